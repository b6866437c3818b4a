// The meaning of a conversation, independent of any wire format. Features are written in it, callers translate it for their SDK, and
// readers translate the upstream's request back. From the gateway's own code it uses only the dialects' names.
import type { Reply } from '../../adapters/testing/replies/reply.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

export type Piece =
  | { t: 'text'; text: string; secret?: string }
  | { t: 'image'; mime: string; data: string }
  | { t: 'image_url'; url: string }
  | { t: 'pdf'; data: string; filename?: string }
  | { t: 'file'; id: string }
  | { t: 'call'; id: string; name: string; args: unknown; secret?: string }
  | { t: 'result'; id: string; pieces: Piece[] }
  | { t: 'thought'; text: string; secret?: string }

export interface Turn {
  role: 'user' | 'assistant'
  pieces: Piece[]
  /** An assistant turn exactly as the caller's SDK returned it; it is sent back unchanged. */
  native?: unknown
}

export interface Tool {
  name: string
  description: string
  schema: unknown
}

export interface Ask {
  system: string
  turns: Turn[]
  tools: Tool[]
  /** JSON Schema of the answer. */
  schema: unknown
  stop: string[]
  maxTokens: number
  effort: string | null
}

export interface Tokens {
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  reasoning: number
}

export interface Answer {
  /** The upstream's own name of the model. */
  model: string
  text: string
  thoughts: string
  refusal: string
  calls: { id: string; name: string; args: unknown }[]
  finish: string
  stopSequence: string | null
  usage: Tokens
}

export function ask(parts: Partial<Ask>): Ask {
  return { system: '', turns: [], tools: [], schema: null, stop: [], maxTokens: 4096, effort: null, ...parts }
}

export function user(...pieces: (Piece | string)[]): Turn {
  return { role: 'user', pieces: pieces.map((piece) => (typeof piece === 'string' ? { t: 'text', text: piece } : piece)) }
}

export function assistant(...pieces: (Piece | string)[]): Turn {
  return { ...user(...pieces), role: 'assistant' }
}

const NO_USAGE: Tokens = { input: 12, cacheRead: 0, cacheWrite: 0, output: 7, reasoning: 0 }

/** Returns the meaning of a scripted reply. */
export function meaning(reply: Reply): Answer {
  const calls = (reply.toolCalls ?? []).map(({ id, name, args }) => ({ id, name, args: JSON.parse(args) as unknown }))
  const finish = reply.finish ?? (calls.length > 0 ? 'tool_calls' : reply.refusal === undefined ? 'stop' : 'refusal')
  return {
    model: reply.model ?? '',
    text: reply.text ?? '',
    thoughts: reply.reasoning?.text ?? '',
    refusal: reply.refusal ?? '',
    calls,
    finish,
    stopSequence: reply.stopSequence ?? null,
    usage: { ...NO_USAGE, ...reply.usage },
  }
}

/** Merges adjacent turns of one role and drops empty ones: dialects split a conversation differently. */
export function merged(turns: readonly Turn[]): Turn[] {
  const out: Turn[] = []
  for (const { role, pieces } of turns) {
    const last = out.at(-1)
    if (pieces.length > 0 && last?.role === role) last.pieces.push(...pieces)
    else if (pieces.length > 0) out.push({ role, pieces: [...pieces] })
  }
  return out.map((turn) => (turn.role === 'assistant' ? { ...turn, pieces: joined(turn.pieces) } : turn))
}

/** Joins streamed increments of one text or thought; a secret ends it. */
function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const piece of pieces) {
    const last = out.at(-1)
    const open = last?.t === piece.t && (last.t === 'text' || last.t === 'thought') && last.secret === undefined
    if (open && (piece.t === 'text' || piece.t === 'thought')) out[out.length - 1] = { ...piece, text: last.text + piece.text }
    else if (piece.t !== 'text' || piece.text !== '' || piece.secret !== undefined) out.push(piece)
  }
  return out
}

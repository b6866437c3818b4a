// Rules that express a meaning in a dialect without a form for it. A cell that used one is `converted`, and its note is printed below the
// tables.
import type { Dialect } from '../../core/types/request/canonical.ts'
import { type Answer, type Ask, merged, type Piece, type Turn } from './neutral.ts'

export const NOTES = {
  media_after_result:
    'Tool messages of chat-completions hold text only: the image follows in a user message behind all results, and the tool message says so.',
  url_inlined:
    'Gemini reads no foreign addresses: the gateway fetches the image (behind its outbound guard) and sends the bytes.',
  file_name_given: 'A PDF without a name gets one where the dialect requires it: document.pdf.',
  file_name: 'Inline data of generate-content has no file name.',
  stop_word: 'Only Anthropic says which stop sequence ended an answer, or that one did: to the others it is a plain stop.',
  refusal_filtered:
    'A refusal is a word of its own only in chat-completions (`refusal`) and responses (a refusal part); Anthropic’s stop reason and Google’s safety stop become each other or a filtered answer, the text stays.',
  cache_writes: 'usageMetadata has no count for cache writes: they stay inside the prompt total.',
  secret_kept_back:
    'Chat-completions clients send reasoning back only inside a tool call, which carries its secret: thoughts of a turn without a call stay behind.',
  sentinel:
    'Gemini 3 wants a signature on the calls of the running turn: a history of other making carries Google’s documented escape value.',
  text_secret: 'Other dialects have no place for Gemini’s optional signature on a text: the text goes back without it.',
  thoughts_on_calls:
    'Vendors that show their thoughts in chat-completions (`reasoning_content`) want them back on turns with tool calls only.',
  thoughts_unsigned: 'Gemini’s secret belongs to calls and texts, never to thoughts: readable thoughts are not replayed to it.',
} as const

export type Note = keyof typeof NOTES

export interface Said<T> {
  value: T
  notes: Note[]
}

/**
 * Returns an Ask as `dialect` can express it: for the `client` who speaks it, or for the `gateway` on behalf of a caller of another one.
 */
export function express(dialect: Dialect, ask: Ask, by: 'client' | 'gateway'): Said<Ask> {
  const notes = new Set<Note>()
  const turns = ask.turns.map((turn): Turn => {
    if (turn.native !== undefined) return turn
    const named = by === 'gateway' && (dialect === 'chat' || dialect === 'responses') ? namedFiles(turn, notes) : turn
    if (dialect === 'chat') return mediaBehindResults(named, by, notes)
    if (dialect !== 'generate_content') return named
    return { ...turn, pieces: turn.pieces.map((piece) => forGemini(piece, by, notes)) }
  })
  const stop = dialect === 'responses' ? [] : ask.stop
  if (by === 'client') return { value: { ...ask, stop, turns }, notes: [...notes] }
  const whole = merged(turns)
  return { value: { ...ask, stop, turns: dialect === 'generate_content' ? signed(whole, notes) : whole }, notes: [...notes] }
}

/** The first call of each model turn after the user's last turn. */
function signed(turns: readonly Turn[], notes: Set<Note>): Turn[] {
  const said = turns.findLastIndex(({ role, pieces }) => role === 'user' && pieces.some((piece) => piece.t !== 'result'))
  return turns.map((turn, index) => {
    const first = turn.pieces.findIndex((piece) => piece.t === 'call')
    const call = turn.pieces[first]
    if (index < said || call?.t !== 'call' || call.secret !== undefined) return turn
    notes.add('sentinel')
    return { ...turn, pieces: turn.pieces.with(first, { ...call, secret: SENTINEL }) }
  })
}

const SENTINEL = 'skip_thought_signature_validator'

function namedFiles(turn: Turn, notes: Set<Note>): Turn {
  const pieces = turn.pieces.map((piece): Piece => {
    if (piece.t !== 'pdf' || piece.filename !== undefined) return piece
    notes.add('file_name_given')
    return { ...piece, filename: 'document.pdf' }
  })
  return { ...turn, pieces }
}

function mediaBehindResults(turn: Turn, by: 'client' | 'gateway', notes: Set<Note>): Turn {
  const media: Piece[] = []
  const pieces = turn.pieces.map((piece): Piece => {
    if (piece.t !== 'result' || piece.pieces.every((inner) => inner.t === 'text')) return piece
    notes.add('media_after_result')
    const lines = piece.pieces.map((inner) => {
      if (inner.t === 'text') return inner.text
      media.push(inner)
      return by === 'gateway' ? `(${inner.t} attached in the next message)` : ''
    })
    return { ...piece, pieces: [{ t: 'text', text: lines.filter((line) => line !== '').join('\n') }] }
  })
  const results = pieces.filter((piece) => piece.t === 'result')
  return { ...turn, pieces: [...results, ...media, ...pieces.filter((piece) => piece.t !== 'result')] }
}

function forGemini(piece: Piece, by: 'client' | 'gateway', notes: Set<Note>): Piece {
  if (piece.t === 'pdf' && piece.filename !== undefined) {
    notes.add('file_name')
    return { t: 'pdf', data: piece.data }
  }
  if (piece.t !== 'image_url' || by === 'client') return piece
  notes.add('url_inlined')
  return FETCHED
}

/** What the test gateway finds at every address. */
export const FETCHED: Piece & { t: 'image' } = {
  t: 'image',
  mime: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
}

/** Returns the part of a reply that an upstream of `dialect` can express. */
export function utterance(dialect: Dialect, answer: Answer): Answer {
  if (dialect === 'messages') return answer
  const { usage } = answer
  return {
    ...answer,
    finish: answer.finish === 'stop_sequence' ? 'stop' : answer.finish,
    stopSequence: null,
    usage: dialect === 'generate_content' ? { ...usage, cacheWrite: 0 } : usage,
  }
}

/** Returns what a caller of `dialect` gets of an answer of `upstream`. */
export function tell(dialect: Dialect, upstream: Dialect, said: Answer): Said<Answer> {
  if (dialect === upstream) return { value: said, notes: [] }
  const notes: Note[] = []
  let value = said
  if (said.finish === 'stop_sequence') {
    notes.push('stop_word')
    value = { ...value, finish: 'stop', stopSequence: null }
  }
  if (said.finish === 'refusal' && (upstream === 'messages' || dialect === 'generate_content')) {
    notes.push('refusal_filtered')
    value = { ...value, finish: 'content_filter', text: said.refusal, refusal: '' }
  } else if (said.finish === 'content_filter' && dialect === 'messages') {
    notes.push('refusal_filtered')
    value = { ...value, finish: 'refusal', text: '', refusal: said.text }
  }
  if (dialect === 'generate_content' && said.usage.cacheWrite > 0) {
    notes.push('cache_writes')
    value = { ...value, usage: { ...value.usage, cacheWrite: 0 } }
  }
  return { value, notes }
}

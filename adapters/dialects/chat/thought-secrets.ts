// Carries the reasoning secrets of messages and responses through a chat client, which sends back only texts and calls. The first call
// after the thoughts carries them in the gw1 envelope, each with the position of its text in reasoning_content. Gemini's secrets belong
// to calls already.
import type {
  Dialect,
  Frozen,
  Json,
  Part,
  ReasoningPart,
  Signature,
  ToolCallPart,
} from '../../../core/types/request/canonical.ts'

/** [from, to, secret] */
type Thought = readonly [number, number, string]

export class ThoughtSecrets {
  #thoughts: Thought[] = []
  #dialect: Dialect = 'messages'
  #family = ''

  /** Adds a whole thought with the position of its text in reasoning_content. */
  add(part: Frozen<ReasoningPart>, from: number, to: number): void {
    const secret = part.signature ?? part.encrypted
    if (!isCarried(secret) || secret.value === '' || part.redacted !== undefined) return
    this.#dialect = secret.dialect
    this.#family = secret.modelFamily
    this.#thoughts.push([from, to, secret.value])
  }

  /** Returns the secret for the next call; undefined when no thought with a secret was added since the last one. */
  take(): Signature | undefined {
    if (this.#thoughts.length === 0) return undefined
    const value = JSON.stringify(this.#thoughts)
    this.#thoughts = []
    return { dialect: this.#dialect, modelFamily: this.#family, value }
  }
}

/** Returns an assistant message of the history with its carried thoughts restored before the calls that carried them. */
export function unpackThoughts(parts: Part[]): Part[] {
  if (!parts.some((part) => part.t === 'tool_call' && isCarried(part.signature))) return parts
  const text = parts.map((part) => (part.t === 'reasoning' ? part.text : '')).join('')
  let unpacked = false
  const out = parts.flatMap((part): Part[] => {
    if (part.t !== 'tool_call' || !isCarried(part.signature)) return [part]
    const { signature, ...call } = part
    const thoughts = thoughtsOf(signature, text)
    unpacked ||= thoughts.length > 0
    return [...thoughts, call as ToolCallPart & Part]
  })
  // The restored thoughts contain the readable text.
  return unpacked ? out.filter((part) => part.t !== 'reasoning' || part.signature !== undefined) : out
}

function thoughtsOf(carried: Signature, text: string): Part[] {
  return parse(carried.value).flatMap(([from, to, value]): Part[] => {
    const said = text.slice(from, to)
    const signature = { ...carried, value }
    if (carried.dialect === 'responses')
      return [{ t: 'reasoning', text: '', ...(said === '' ? {} : { summary: [said] }), signature }]
    // Anthropic accepts a thought only with its exact text; without it the secret is useless.
    return said.length === to - from ? [{ t: 'reasoning', text: said, signature }] : []
  })
}

function isCarried(signature: Frozen<Signature> | undefined): signature is Frozen<Signature> {
  return signature?.dialect === 'messages' || signature?.dialect === 'responses'
}

function parse(value: string): Thought[] {
  try {
    const list = JSON.parse(value) as Json
    return Array.isArray(list) ? (list.filter(isThought) as unknown as Thought[]) : []
  } catch {
    return []
  }
}

function isThought(entry: Json): boolean {
  return Array.isArray(entry) && typeof entry[0] === 'number' && typeof entry[1] === 'number' && typeof entry[2] === 'string'
}

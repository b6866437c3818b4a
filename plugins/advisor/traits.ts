// Facts about one request, from its body as it was sent: the request is not decoded for them. The four dialects keep their turns in
// `messages`, `contents` or `input`.

/** Texts of one request. */
export interface Traits {
  /** Digest of everything that an answer depends on, as far as the body says. */
  readonly whole: number
  /** Digest of a short prompt without case, spaces and punctuation; null: it is not one. */
  readonly near: number | null
  readonly promptChars: number
  readonly toolChars: number
  /** The beginnings of the prompt, the shortest first. */
  readonly prefixes: readonly { readonly digest: number; readonly chars: number }[]
}

/** Characters of a short prompt. */
const SHORT = 500

/** Returns null for a body that is not a JSON object, or has no turns. */
export function traitsOf(body: Uint8Array): Traits | null {
  const sent = parsed(body)
  if (sent === null) return null
  const { messages, contents, input, system, instructions, systemInstruction, tools, ...rest } = sent
  const turns = [messages, contents, input].find((list) => list !== undefined)
  const units = Array.isArray(turns) ? turns : turns === undefined ? [] : [turns]
  if (units.length === 0) return null
  let digest = digestOf(JSON.stringify([system, instructions, systemInstruction, tools]), 0)
  let promptChars = length(system) + length(instructions) + length(systemInstruction)
  let toolChars = 0
  const prefixes = [{ digest, chars: promptChars }]
  for (const unit of units) {
    const text = JSON.stringify(unit)
    digest = digestOf(text, digest)
    promptChars += text.length
    toolChars += toolLength(unit, text)
    prefixes.push({ digest, chars: promptChars })
  }
  const asked = units.filter((unit) => !isObject(unit) || unit.role === undefined || unit.role === 'user')
  const prompt = asked.length === 1 && toolChars === 0 ? textOf(asked[0]) : ''
  const isShort = prompt !== '' && prompt.length <= SHORT
  return {
    whole: digestOf(JSON.stringify(rest), digest),
    near: isShort ? digestOf(plain(prompt), 0) : null,
    promptChars,
    toolChars,
    prefixes,
  }
}

function parsed(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const length = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length)

function toolLength(unit: unknown, text: string): number {
  if (!isObject(unit)) return 0
  if (unit.role === 'tool' || unit.type === 'function_call_output') return text.length
  const parts = Array.isArray(unit.content) ? unit.content : Array.isArray(unit.parts) ? unit.parts : []
  return parts.reduce((sum: number, part: unknown) => {
    const isResult = isObject(part) && (part.type === 'tool_result' || part.functionResponse !== undefined)
    return isResult ? sum + JSON.stringify(part).length : sum
  }, 0)
}

/** Returns the empty text for a turn that is not text alone. */
function textOf(unit: unknown): string {
  if (typeof unit === 'string') return unit
  if (!isObject(unit)) return ''
  const content = unit.content ?? unit.parts
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : null))
  return texts.includes(null) ? '' : texts.join('\n')
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, ' ')
    .trim()

/** 53 bits: two texts of one window share a digest with a chance below one in a million. */
function digestOf(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed
  let low = 0x41c6ce57 ^ Math.floor(seed / 4294967296)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 4294967296 * (2097151 & low) + (high >>> 0)
}

// Looks into a sample of the requests: repeated prompts, repeated beginnings and the share of tool results. Only digests and lengths are
// kept, in memory and for five minutes. A request counts for as many as it stands for.
import type { CanonicalRequest, Frozen, Part } from '../../core/types/canonical.ts'

/** A repeated prompt within this time would have been answered by the exact cache, and a repeated beginning by a prompt cache. */
export const REPEAT_MS = 300_000
const MAX_DIGESTS = 20_000
/** Requests per second that are looked into; with more traffic the sample gets thinner. */
const MOST_PER_SECOND = 50
const FEW_PER_SECOND = 10
const MAX_LEVEL = 4096
const HOUR_MS = 3_600_000
/** Bytes of the body that choose whether it is in the sample. Repeats and the turns of one conversation begin alike. */
const CLASS_BYTES = 512
/** Characters of a short prompt. */
const SHORT = 500

/** Facts of one request. */
export interface Traits {
  readonly repeated: boolean
  /** A short prompt that differs from an earlier one in case, spaces or punctuation only. */
  readonly nearlyRepeated: boolean
  readonly promptChars: number
  readonly toolChars: number
  /** Length of the longest beginning that an earlier request had, too. */
  readonly prefixChars: number
}

export class Sampler {
  readonly #seen = new Map<string, number>()
  #level = 1
  #second = 0
  #taken = 0

  /** Returns the number of requests that this one stands for; 0: it is not in the sample. */
  weight(body: Uint8Array | null, now: number): number {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      if (this.#taken < FEW_PER_SECOND && this.#level > 1) this.#level /= 2
      this.#second = second
      this.#taken = 0
    }
    if (this.#level > 1 && classOf(body, now) % this.#level !== 0) return 0
    if (++this.#taken > MOST_PER_SECOND && this.#level < MAX_LEVEL) {
      this.#level *= 2
      this.#taken = 0
    }
    return this.#level
  }

  traits(scope: string, request: Frozen<CanonicalRequest>, now: number): Traits {
    let digest = digestOf(JSON.stringify([request.model, request.tools ?? []]), 0)
    let promptChars = 0
    let toolChars = 0
    const boundaries: { digest: number; chars: number }[] = []
    let last = ''
    for (const message of [...request.system, ...request.messages]) {
      const parts = 'parts' in message ? message.parts : [message]
      last = ''
      for (const part of parts as readonly Frozen<Part>[]) {
        const text = textOf(part)
        digest = digestOf(text, digest)
        promptChars += text.length
        if (part.t === 'tool_result') toolChars += text.length
        last += text
      }
      boundaries.push({ digest, chars: promptChars })
    }
    const near = request.messages.length === 1 && last.length <= SHORT ? `${scope} n ${digestOf(plain(last), 0)}` : null
    const whole = `${scope} e ${digest}`
    const repeated = this.#isRecent(whole, now)
    const prefixChars = boundaries.findLast((at) => this.#isRecent(`${scope} p ${at.digest}`, now))?.chars ?? 0
    const nearlyRepeated = !repeated && near !== null && this.#isRecent(near, now)
    this.#remember(whole, now)
    if (near !== null) this.#remember(near, now)
    for (const at of boundaries) this.#remember(`${scope} p ${at.digest}`, now)
    return { repeated, nearlyRepeated, promptChars, toolChars, prefixChars }
  }

  #isRecent(id: string, now: number): boolean {
    const at = this.#seen.get(id)
    return at !== undefined && now - at <= REPEAT_MS
  }

  #remember(id: string, now: number): void {
    this.#seen.delete(id)
    this.#seen.set(id, now)
    if (this.#seen.size <= MAX_DIGESTS) return
    const oldest = this.#seen.keys().next().value
    if (oldest !== undefined) this.#seen.delete(oldest)
  }
}

/** Another hour has another sample. */
function classOf(body: Uint8Array | null, now: number): number {
  let hash = Math.floor(now / HOUR_MS) | 0
  const end = Math.min(body?.length ?? 0, CLASS_BYTES)
  for (let index = 0; index < end; index++) hash = Math.imul(hash ^ (body as Uint8Array)[index]!, 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

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

function textOf(part: Frozen<Part>): string {
  if (part.t === 'text' || part.t === 'reasoning') return part.text
  if (part.t === 'tool_call') return `${part.name} ${part.args}`
  if (part.t === 'tool_result') return part.parts.map(textOf).join('\n')
  return JSON.stringify(part)
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, ' ')
    .trim()

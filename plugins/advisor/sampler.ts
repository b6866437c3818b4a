// Looks into a sample of the requests: repeated prompts, repeated beginnings and the share of tool results. Only digests and lengths are
// kept, in memory and for five minutes. A request counts for as many as it stands for.
import { traitsOf } from './traits.ts'

/** A repeated prompt within this time would have been answered by the exact cache, and a repeated beginning by a prompt cache. */
export const REPEAT_MS = 300_000
const MAX_DIGESTS = 20_000
/** Effort per second; with more traffic the sample gets thinner. A request costs 1, and 1 more for each 20 KB. */
export const MOST_PER_SECOND = 50
/** Below this share of the effort the sample grows again. */
const FEW = 1 / 5
const BYTES_PER_EFFORT = 20_000
const MAX_LEVEL = 4096
/** A longer body is not in the sample: it is parsed in one turn of the event loop. */
const MAX_BYTES = 512 * 1024
const HOUR_MS = 3_600_000
/** Bytes of the body that choose whether it is in the sample. Repeats and the turns of one conversation begin alike. */
const CLASS_BYTES = 512
/** Each request pays for this, so most bytes are skipped. */
const CLASS_STEP = 8

/** Facts of one request among the recent ones. */
export interface Looked {
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
  readonly #most: number
  #level = 1
  #second = 0
  #effort = 0

  /** @param most effort per second; 0: no request is in the sample */
  constructor(most = MOST_PER_SECOND) {
    this.#most = most
  }

  /** Returns the number of requests that this one stands for; 0: it is not in the sample. */
  weight(body: Uint8Array, now: number): number {
    if (body.length > MAX_BYTES || this.#most === 0) return 0
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      if (this.#effort < this.#most * FEW && this.#level > 1) this.#level /= 2
      this.#second = second
      this.#effort = 0
    }
    if (this.#level > 1 && classOf(body, now) % this.#level !== 0) return 0
    const level = this.#level
    this.#effort += 1 + body.length / BYTES_PER_EFFORT
    if (this.#effort > this.#most && level < MAX_LEVEL) {
      this.#level *= 2
      this.#effort = 0
    }
    return level
  }

  /** Returns null for a body without turns. */
  look(scope: string, body: Uint8Array, now: number): Looked | null {
    const traits = traitsOf(body)
    if (traits === null) return null
    const { promptChars, toolChars, prefixes } = traits
    const whole = `${scope} e ${traits.whole}`
    const near = traits.near === null ? null : `${scope} n ${traits.near}`
    const repeated = this.#isRecent(whole, now)
    const prefixChars = prefixes.findLast(({ digest }) => this.#isRecent(`${scope} p ${digest}`, now))?.chars ?? 0
    const nearlyRepeated = !repeated && near !== null && this.#isRecent(near, now)
    this.#remember(whole, now)
    if (near !== null) this.#remember(near, now)
    for (const { digest } of prefixes) this.#remember(`${scope} p ${digest}`, now)
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
function classOf(body: Uint8Array, now: number): number {
  let hash = Math.floor(now / HOUR_MS) | 0
  const end = Math.min(body.length, CLASS_BYTES)
  for (let index = 0; index < end; index += CLASS_STEP) hash = Math.imul(hash ^ (body[index] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

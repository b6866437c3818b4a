// Sums over usage rows, under the names of the API.
import { z } from 'zod'
import type { UsageRow, UsageTokens } from './ledger.ts'

export const tokensAnswer = z.strictObject({
  prompt: z.int(),
  completion: z.int(),
  cache_read: z.int(),
  cache_write: z.int(),
  reasoning: z.int(),
  total: z.int(),
})

export function shownTokens({ input, output, cacheRead, cacheWrite, reasoning }: UsageTokens): z.input<typeof tokensAnswer> {
  return {
    prompt: input,
    completion: output,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    reasoning,
    total: input + output,
  }
}

export const usd = (nano: number): number => nano / 1e9

/** Sums, with latencies if requested. A request of several steps counts once. */
export class Figures {
  requests = 0
  errors = 0
  cached = 0
  costNano = 0
  chargeNano = 0
  readonly estimated = { tokens: 0, costNano: 0, chargeNano: 0 }
  interrupted = 0
  /** Steps that used something without a known price. */
  unpriced = 0
  /** Start of the newest request, epoch ms; null without one. */
  lastAt: number | null = null
  readonly tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  readonly #latencies: number[] = []

  add(row: UsageRow): void {
    if (row.step === 0) {
      this.requests++
      if (row.status >= 400) this.errors++
      if (row.cached !== null) this.cached++
      if (row.interrupted) this.interrupted++
    }
    if (isUnpriced(row)) this.unpriced++
    if (this.lastAt === null || row.at > this.lastAt) this.lastAt = row.at
    this.costNano += row.costNano ?? 0
    this.chargeNano += row.chargeNano ?? 0
    if (row.estimated) {
      this.estimated.tokens += row.tokens.input + row.tokens.output
      this.estimated.costNano += row.costNano ?? 0
      this.estimated.chargeNano += row.chargeNano ?? 0
    }
    for (const kind of KINDS) this.tokens[kind] += row.tokens[kind]
    this.#latencies.push(row.latencyMs)
  }

  /** Returns the nearest rank; null without values. @param share 0 to 1. */
  latency(share: number): number | null {
    const sorted = this.#latencies.sort((a, b) => a - b)
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  }
}

/** A cached answer and a failure without an answer cost nothing, whether or not a price is known. */
function isUnpriced({ costNano, cached, status, tokens, mediaUnits }: UsageRow): boolean {
  if (costNano !== null || cached !== null) return false
  return status < 400 || tokens.input + tokens.output > 0 || mediaUnits > 0
}

const KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const

/** Returns the entry of a map; creates it when missing. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let entry = map.get(key)
  if (entry === undefined) {
    entry = make()
    map.set(key, entry)
  }
  return entry
}

/** Holds one Figures for each value. */
export class Grouped {
  readonly groups = new Map<string, Figures>()

  add(value: string | null, row: UsageRow): void {
    if (value === null) return
    entryOf(this.groups, value, () => new Figures()).add(row)
  }

  /** Returns the most expensive first, then the most used, then by name. */
  sorted(): [value: string, figures: Figures][] {
    return [...this.groups].sort(([a, x], [b, y]) => y.costNano - x.costNano || y.requests - x.requests || (a < b ? -1 : 1))
  }
}

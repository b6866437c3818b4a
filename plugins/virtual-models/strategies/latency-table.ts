// How long targets take, as moving averages: to the first byte of a stream, to the end of anything else. In memory.

const ALPHA = 0.3
const EXPIRES_MS = 3_600_000
/** A failure counts as twice the slowest answer, and as no less than this. */
const LEAST_PENALTY_MS = 10_000
const MAX_ENTRIES = 4000

export interface Latency {
  readonly ms: number
  readonly samples: number
}

interface Entry {
  ms: number
  samples: number
  /** Moving average of failures, 0 to 1. */
  failures: number
  at: number
}

export interface LatencyTable {
  answered(provider: string, model: string, stream: boolean, ms: number): void
  failed(provider: string, model: string, stream: boolean): void
  /** Null: nothing of the last hour. */
  of(provider: string, model: string, stream: boolean): Latency | null
  /** Whichever kind has more samples. */
  any(provider: string, model: string): Latency | null
  /** Recent ones, 0 to 1. */
  failureRate(provider: string, model: string): number
}

/** @param monotonic ms. */
export function latencyTable(monotonic: () => number): LatencyTable {
  const entries = new Map<string, Entry>()
  const keyOf = (provider: string, model: string, stream: boolean) => `${stream ? 's' : 'w'} ${provider}/${model}`
  const fresh = (key: string): Entry | null => {
    const entry = entries.get(key)
    return entry === undefined || monotonic() - entry.at > EXPIRES_MS ? null : entry
  }
  const sample = (key: string, ms: number, failure: 0 | 1): void => {
    const known = fresh(key)
    const mixed = (before: number, now: number) => before + ALPHA * (now - before)
    // Whoever was heard of last is forgotten last.
    entries.delete(key)
    entries.set(key, {
      ms: known === null ? ms : mixed(known.ms, ms),
      samples: (known?.samples ?? 0) + 1,
      failures: known === null ? failure : mixed(known.failures, failure),
      at: monotonic(),
    })
    if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string)
  }
  const slowest = (): number => {
    let most = 0
    for (const key of entries.keys()) most = Math.max(most, fresh(key)?.ms ?? 0)
    return most
  }
  const of = (provider: string, model: string, stream: boolean) => fresh(keyOf(provider, model, stream))
  return {
    answered: (provider, model, stream, ms) => sample(keyOf(provider, model, stream), ms, 0),
    failed(provider, model, stream) {
      // Penalties are no measure for penalties: one outage would otherwise double without end.
      sample(keyOf(provider, model, stream), Math.min(Math.max(2 * slowest(), LEAST_PENALTY_MS), 10 * LEAST_PENALTY_MS), 1)
    },
    of,
    any(provider, model) {
      const [whole, streamed] = [of(provider, model, false), of(provider, model, true)]
      return (streamed?.samples ?? 0) > (whole?.samples ?? 0) ? streamed : whole
    },
    failureRate: (provider, model) =>
      Math.max(of(provider, model, false)?.failures ?? 0, of(provider, model, true)?.failures ?? 0),
  }
}

// Measures targets' latency as moving averages: to the first byte of a stream, to the end of any other answer. In memory.

const ALPHA = 0.3
const EXPIRES_MS = 3_600_000
/** A failure counts as twice the slowest answer, at least this. */
const LEAST_PENALTY_MS = 10_000
const MAX_ENTRIES = 2000
/** An entry that moves at each answer makes its map allocate a new table every few answers. */
const MOVED_EVERY_MS = 60_000

export interface Latency {
  readonly ms: number
  readonly samples: number
}

interface Entry {
  ms: number
  samples: number
  /** The same average for successful answers only; 0: none yet. */
  answers: number
  /** Moving average of failures, 0 to 1. */
  failures: number
  at: number
  /** When the entry became the last one of its map. */
  moved: number
}

/** By `provider/model`. */
export interface LatencyTable {
  answered(id: string, stream: boolean, ms: number): void
  failed(id: string, stream: boolean): void
  /** Returns null when there is nothing within the last hour. `now`: monotonic ms, for callers with many look-ups. */
  of(id: string, stream: boolean, now?: number): Latency | null
  /** Returns the kind with more samples. */
  any(id: string): Latency | null
  /** Returns the recent rate, 0 to 1. */
  failureRate(id: string): number
}

/** Each organization measures for itself: a slow or failing address of one has no effect on the others. */
export type LatencyTables = (orgId: number | null) => LatencyTable

const MAX_ORGANIZATIONS = 1000

export function latencyTables(monotonic: () => number): LatencyTables {
  const own = latencyTable(monotonic)
  const others = new Map<number, LatencyTable>()
  return (orgId) => {
    if (orgId === null) return own
    let table = others.get(orgId)
    if (table === undefined) {
      table = latencyTable(monotonic)
      others.set(orgId, table)
      if (others.size > MAX_ORGANIZATIONS) others.delete(others.keys().next().value as number)
    }
    return table
  }
}

/** @param monotonic returns ms. */
export function latencyTable(monotonic: () => number): LatencyTable {
  const whole = new Map<string, Entry>()
  const streamed = new Map<string, Entry>()
  const of = (id: string, stream: boolean, now = monotonic()): Entry | null => {
    const entry = (stream ? streamed : whole).get(id)
    return entry === undefined || now - entry.at > EXPIRES_MS ? null : entry
  }
  const sample = (id: string, stream: boolean, ms: number, failure: 0 | 1): void => {
    const entries = stream ? streamed : whole
    const now = monotonic()
    const known = of(id, stream, now)
    const mixed = (before: number, latest: number) => before + ALPHA * (latest - before)
    const stays = known !== null && now - known.moved < MOVED_EVERY_MS
    if (!stays) entries.delete(id)
    entries.set(id, {
      ms: known === null ? ms : mixed(known.ms, ms),
      samples: (known?.samples ?? 0) + 1,
      answers: failure === 1 ? (known?.answers ?? 0) : known?.answers ? mixed(known.answers, ms) : ms,
      failures: known === null ? failure : mixed(known.failures, failure),
      at: now,
      moved: stays ? known.moved : now,
    })
    // The first entry is the one that was updated least recently, to a minute.
    if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string)
  }
  // Penalties are excluded: otherwise one outage would double them without end.
  const slowest = (stream: boolean): number => {
    const now = monotonic()
    let most = 0
    for (const id of (stream ? streamed : whole).keys()) most = Math.max(most, of(id, stream, now)?.answers ?? 0)
    return most
  }
  return {
    answered: (id, stream, ms) => sample(id, stream, ms, 0),
    failed: (id, stream) => sample(id, stream, Math.max(2 * slowest(stream), LEAST_PENALTY_MS), 1),
    of,
    any(id) {
      const [full, stream] = [of(id, false), of(id, true)]
      return (stream?.samples ?? 0) > (full?.samples ?? 0) ? stream : full
    },
    failureRate: (id) => Math.max(of(id, false)?.failures ?? 0, of(id, true)?.failures ?? 0),
  }
}

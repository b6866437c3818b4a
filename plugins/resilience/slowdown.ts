// Says how much slower requests are since an account is in trouble: p95 of the same models before and since then, from usage rows.
import { isReplay } from '../../core/records/replays.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

type Usage = Services['ledger']['usage']
type Row = Parameters<Parameters<Usage['newest']>[2]>[0]

/** Returns `p95 1.9 s → 4.1 s.`; null: not clearly slower, or too few requests to say so. */
export type Slowdown = (orgId: number | null, accounts: readonly string[], since: number) => Promise<string | null>

/** Each side is this long at most. */
const WINDOW_MS = 3_600_000
/** The failures that brought the trouble came in this time, and their requests were slow already. */
const LEAD_MS = 60_000
/** The newest rows of a side decide. */
const CAP = 2000
/** As the advisor judges its actions: fewer requests, or a smaller difference, may be chance. */
const LEAST_REQUESTS = 20
const SLOWER = 1.5
const SLOWER_MS = 500
const REMEMBERED = 100

interface Before {
  readonly models: ReadonlySet<string>
  readonly p95: number | null
}

export function slowdown(ledger: () => Services['ledger'] | undefined, clock: Pick<Clock, 'now'>): Slowdown {
  /** The past does not change. */
  const known = new Map<string, Before>()

  const before = async (usage: Usage, orgId: number | null, accounts: readonly string[], since: number): Promise<Before> => {
    const name = JSON.stringify([orgId, accounts, since])
    const found = known.get(name)
    if (found !== undefined) return found
    const rows = await answered(usage, { since: since - LEAD_MS - WINDOW_MS, until: since - LEAD_MS, orgId })
    const models = new Set(rows.filter(({ connectionId }) => accounts.includes(connectionId ?? '')).map(modelOf))
    const made = { models, p95: p95Of(rows, models) }
    if (known.size >= REMEMBERED) known.clear()
    known.set(name, made)
    return made
  }

  return async (orgId, accounts, since) => {
    const usage = ledger()?.usage
    if (usage === undefined) return null
    const { models, p95: was } = await before(usage, orgId, accounts, since)
    if (was === null) return null
    const now = clock.now()
    const is = p95Of(await answered(usage, { since: Math.max(since, now - WINDOW_MS), until: now + 1, orgId }), models)
    if (is === null || is <= was * SLOWER || is <= was + SLOWER_MS) return null
    return `p95 ${seconds(was)} → ${seconds(is)}.`
  }
}

async function answered(usage: Usage, filter: Parameters<Usage['newest']>[0]): Promise<Row[]> {
  const rows: Row[] = []
  await usage.newest(filter, CAP, (row) => {
    // An answer of the cache took no upstream, and steps of one request are no requests.
    if (row.status < 400 && row.step === 0 && row.cached === null && !isReplay(row)) rows.push(row)
  })
  return rows
}

/** The model that was asked for: a virtual model stays the same when another target answers. */
function modelOf({ virtualModel, provider, model }: Row): string {
  return virtualModel ?? `${provider}/${model}`
}

function p95Of(rows: readonly Row[], models: ReadonlySet<string>): number | null {
  const times = rows.filter((row) => models.has(modelOf(row))).map(({ latencyMs }) => latencyMs)
  if (times.length < LEAST_REQUESTS) return null
  times.sort((a, b) => a - b)
  return times[Math.ceil(times.length * 0.95) - 1] as number
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

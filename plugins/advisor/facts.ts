// The facts that recommendations are computed from: usage of 30 days, counted calls of 14 days, virtual models, keys and settings. Usage is
// summed in slices of an hour, so that requests go on in between.
import { REPLAY_SOURCE } from '../../core/records/replays.ts'
import type { Calendar, Window } from '../../core/timing/calendar.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import { type Observed, observedSince } from './observed.ts'

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const WINDOW_DAYS = 14
/** A key counts as unused after this many days. */
export const IDLE_DAYS = 30
const MONTH_DAYS = 30

/** Usage of one target under one virtual model; `virtualModel` null: the caller named the model itself. */
export interface Used {
  readonly virtualModel: string | null
  readonly provider: string
  readonly model: string
  requests: number
  errors: number
  inputTokens: number
  cacheReadTokens: number
  outputTokens: number
  costNano: number
}

export interface Facts {
  readonly orgId: number | null
  readonly now: number
  readonly since: number
  readonly used: readonly Used[]
  readonly observed: readonly Observed[]
  readonly virtualModels: ReturnType<Services['virtualModels']['list']>
  readonly keys: ReturnType<Services['keys']['list']>
  /** Ids of keys with a request in the last 30 days; null: usage rows are not kept that long. */
  readonly busyKeys: ReadonlySet<number> | null
  price(provider: string, model: string): Readonly<ModelPrice> | undefined
  /** The score of shadow evaluation, without samples of which only words were compared; null: there is none. */
  quality(served: string, challenger: string): { readonly samples: number; readonly score: number } | null
  /** The value of a setting; undefined: no plugin declares it. */
  setting(key: string): unknown
  /** Whether the file fixes it. */
  isPinned(key: string): boolean
  /** Whether it can be changed here: also by an organization, when that may have a value of its own. */
  isOwn(key: string): boolean
  readonly spend: Spend | null
  /** The factor from what was seen in the window to a month of 30 days. */
  readonly monthly: number
}

/** This calendar month against MONTHLY_BUDGET_USD. */
export interface Spend {
  readonly limitUsd: number
  readonly spentUsd: number
  readonly projectedUsd: number
}

export interface FactSources {
  readonly gateway: Pick<PluginGateway, 'db' | 'use' | 'optional'>
  readonly calendar: Calendar
  readonly retentionDays: number
  readonly monthlyBudgetUsd: number | null
  /** Returns the listed price at connections of this organization; null: the gateway's own. */
  price(orgId: number | null, provider: string, model: string): ReturnType<Facts['price']>
  /** False without the plugin that stores settings. */
  changesSettings(): boolean
}

export async function factsOf(
  { gateway, calendar, retentionDays, monthlyBudgetUsd, price, changesSettings }: FactSources,
  orgId: number | null,
  now: number,
): Promise<Facts> {
  const since = now - WINDOW_DAYS * DAY_MS
  const month = calendar.at('monthly', now)
  const { used, keys, firstAt, monthNano } = await summed(gateway.use('ledger').usage, orgId, { since, month: month.start, now })
  const declared = new Map(
    gateway
      .use('settings')
      .declared(orgId)
      .map((setting) => [setting.key, setting]),
  )
  const pairs = (await gateway.optional('shadow')()?.pairs({ orgId, since, until: now })) ?? []
  const qualities = new Map(pairs.map(({ served, challenger, compared }) => [`${served} ${challenger}`, compared]))
  const seenDays = Math.min(WINDOW_DAYS, Math.max(1, (now - (firstAt ?? now)) / DAY_MS))
  return {
    orgId,
    now,
    since,
    used,
    observed: await observedSince(gateway.db, orgId, since),
    virtualModels: gateway.use('virtualModels').list(orgId),
    keys: gateway.use('keys').list(orgId),
    busyKeys: retentionDays <= 0 || retentionDays >= IDLE_DAYS ? keys : null,
    price: (provider, model) => price(orgId, provider, model),
    quality: (served, challenger) => qualities.get(`${served} ${challenger}`) ?? null,
    setting: (key) => declared.get(key)?.value,
    isPinned: (key) => declared.get(key)?.pinned ?? false,
    isOwn: (key) => changesSettings() && (orgId === null || declared.get(key)?.scope === 'organization'),
    spend: monthlyBudgetUsd === null ? null : spendOf(monthlyBudgetUsd, monthNano / 1e9, month, now),
    monthly: MONTH_DAYS / seenDays,
  }
}

interface Times {
  readonly since: number
  /** Start of the calendar month. */
  readonly month: number
  readonly now: number
}

async function summed(usage: Services['ledger']['usage'], orgId: number | null, { since, month, now }: Times) {
  const found = new Map<string, Used>()
  const keys = new Set<number>()
  let firstAt: number | null = null
  let monthNano = 0
  for (const [from, until] of slices(Math.min(month, now - IDLE_DAYS * DAY_MS), month, now)) {
    const groups = usage.sums({ since: from, until, orgId }, ['key', 'virtual_model', 'provider', 'model', 'source'])
    for await (const { group, stored, requests, errors, tokens, costNano } of groups) {
      const [, virtualModel = null, provider = null, model = null, source = null] = group
      if (source === REPLAY_SOURCE) continue
      if (from >= month) monthNano += costNano
      if (from >= now - IDLE_DAYS * DAY_MS) keys.add(Number(stored[0]))
      if (from < since || provider === null || model === null) continue
      firstAt ??= from
      const sum = usedAt(found, { virtualModel, provider, model })
      sum.requests += requests
      sum.errors += errors
      sum.inputTokens += tokens.input
      sum.cacheReadTokens += tokens.cacheRead
      sum.outputTokens += tokens.output
      sum.costNano += costNano
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { used: [...found.values()], keys, firstAt, monthNano }
}

/** Hours, cut where the month begins. */
function* slices(since: number, month: number, now: number): Generator<[number, number]> {
  for (let from = since; from < now; ) {
    const until = Math.min(now, from + HOUR_MS, from < month ? month : now)
    yield [from, until]
    from = until
  }
}

function usedAt(found: Map<string, Used>, place: Pick<Used, 'virtualModel' | 'provider' | 'model'>): Used {
  const id = `${place.virtualModel} ${place.provider}/${place.model}`
  const known = found.get(id)
  if (known !== undefined) return known
  const sum = { ...place, requests: 0, errors: 0, inputTokens: 0, cacheReadTokens: 0, outputTokens: 0, costNano: 0 }
  found.set(id, sum)
  return sum
}

function spendOf(limitUsd: number, spentUsd: number, { start, end }: Window, now: number): Spend {
  const length = (end ?? now) - start
  // On the first day too little has been seen to project a month from it.
  const elapsed = Math.max(now - start, DAY_MS)
  return { limitUsd, spentUsd, projectedUsd: Math.max(spentUsd, (spentUsd * length) / elapsed) }
}

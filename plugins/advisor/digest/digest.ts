// The digest of a week: what was saved, and the largest opportunities.
import { REPLAY_SOURCE } from '../../../core/records/replays.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Advisor } from '../recommend.ts'
import type { Recommendation } from '../service.ts'
import type { Week } from './week.ts'

const TOP = 5

export interface Digest {
  readonly week: string
  readonly periodStart: string
  readonly periodEnd: string
  readonly requests: number
  readonly costUsd: number
  readonly usdSaved: number
  readonly tokensSaved: number
  readonly opportunities: readonly Recommendation[]
  readonly headline: string
}

export async function digestOf(gateway: PluginGateway, advisor: Advisor, orgId: number | null, week: Week): Promise<Digest> {
  const window = { since: week.start, until: week.end, orgId }
  let requests = 0
  let costNano = 0
  for await (const sum of gateway.use('ledger').usage.sums(window, ['source'])) {
    if (sum.group[0] === REPLAY_SOURCE) continue
    requests += sum.requests
    costNano += sum.costNano
  }
  const savings = gateway.optional('savings')()
  const saved = savings === undefined ? { usdSavedNano: 0, tokensSaved: 0 } : await savings.sum(window)
  const { data } = await advisor.of(orgId, gateway.clock.now())
  const opportunities = data.slice(0, TOP)
  const usdSaved = saved.usdSavedNano / 1e9
  return {
    week: week.name,
    periodStart: new Date(week.start).toISOString(),
    periodEnd: new Date(week.end).toISOString(),
    requests,
    costUsd: costNano / 1e9,
    usdSaved,
    tokensSaved: saved.tokensSaved,
    opportunities,
    headline: headline(week.name, usdSaved, opportunities[0]),
  }
}

function headline(week: string, usdSaved: number, top: Recommendation | undefined): string {
  const saved = `Week ${week}: ${usdSaved.toFixed(2)} USD saved.`
  if (top === undefined) return saved
  const worth = top.estMonthlyUsd > 0 ? ` (${top.estMonthlyUsd.toFixed(2)} USD a month)` : ''
  return `${saved} Next: ${top.title}${worth}.`
}

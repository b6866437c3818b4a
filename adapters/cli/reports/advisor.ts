// `hookgate advisor`: lists recommendations; applies, confirms and rolls back; `hookgate digest` prints a week.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { count, localTime, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Recommendation {
  id: string
  kind: string
  title: string
  detail: string
  est_monthly_usd: number
  confidence: number
  apply_action: object | null
  apply_hint: string
}

interface Advice {
  generated_at: string
  window_days: number
  monthly_budget: { limit_usd: number; spend_usd: number; projected_usd: number; status: string } | null
  data: Recommendation[]
}

interface Applied {
  id: number
  kind: string
  action: { params: { name?: string; key?: string } }
  state: string
  rollback_reason: string | null
  applied_at: string
  probation_until: string
  probation_active: boolean
}

interface Digest {
  week: string
  period_start: string
  period_end: string
  requests: number
  cost_usd: number
  total_usd_saved: number
  total_tokens_saved: number
  top_opportunities: Recommendation[]
  headline: string
}

export const list = action({
  name: 'advisor',
  description: 'Show what would cost less or fail less, with the evidence. `hookgate advisor apply` carries one out.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const advice = await readControlPlane(given, ({ call }) => call<Advice>('GET', '/api/advisor'))
    if (given.json) return printJson(advice)
    const { monthly_budget: budget, data } = advice
    if (budget !== null)
      console.log(
        `This month: ${usd(budget.spend_usd)} of ${usd(budget.limit_usd)}, ${usd(budget.projected_usd)} at its end (${budget.status}).\n`,
      )
    if (data.length === 0) return say.success(`There is nothing to recommend from the last ${advice.window_days} days.`)
    console.log(opportunities(data))
    for (const { id, title, detail, apply_action, apply_hint } of data)
      console.log(
        `\n${cell(title)}\n  ${cell(detail)}\n  ${apply_action === null ? cell(apply_hint) : `hookgate advisor apply ${id}`}`,
      )
  },
})

export const apply = action({
  name: 'apply',
  description: 'Carry out a recommendation. Until it is confirmed, it is taken back when errors, latency or cost rise.',
  args: {
    id: { type: 'positional', required: true, description: 'Id of the recommendation, rec_…' },
    'probation-hours': { type: 'string', valueHint: 'hours', description: 'Length of the probation (default 24)' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { probation_hours: 'probation-hours' },
  async run({ id, 'probation-hours': hours, ...given }) {
    const body = { recommendation_id: id, ...(hours !== undefined && { probation_hours: Number(hours) }) }
    const done = await withControlPlane(given, ({ call }) => call<Applied>('POST', '/api/advisor/apply', body))
    if (given.json) return printJson(done)
    say.success(`Applied as action ${done.id}. On probation until ${localTime(done.probation_until)}.`)
    say.info(`Keep it: hookgate advisor confirm ${done.id}. Take it back: hookgate advisor rollback ${done.id}.`)
  },
})

export const confirm = end('confirm', 'Keep an applied action; the watch ends.', 'confirmed')
export const rollback = end('rollback', 'Restore what was there before an applied action.', 'rolled back')

function end(name: 'confirm' | 'rollback', description: string, done: string) {
  return action({
    name,
    description,
    args: {
      id: { type: 'positional', required: true, description: 'Number of the action: see `hookgate advisor applied`' },
      ...JSON_FLAG,
      ...PLANE,
    },
    async run({ id, ...given }) {
      const path = `/api/advisor/${name}/${encodeURIComponent(id)}`
      const ended = await withControlPlane(given, ({ call }) => call<Applied>('POST', path, {}))
      if (given.json) return printJson(ended)
      say.success(`Action ${ended.id} is ${done}.`)
    },
  })
}

export const applied = action({
  name: 'applied',
  description: 'List applied actions, newest first.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const { data } = await readControlPlane(given, ({ call }) => call<{ data: Applied[] }>('GET', '/api/advisor/applied'))
    if (given.json) return printJson(data)
    if (data.length === 0) return say.info('No recommendation has been applied.')
    const rows = data.map(({ id, kind, action, state, rollback_reason, applied_at, probation_active }) => [
      String(id),
      cell(kind),
      cell(action.params.name ?? action.params.key ?? ''),
      probation_active ? 'on probation' : rollback_reason === null ? state : `${state} (${rollback_reason})`,
      localTime(applied_at),
    ])
    console.log(table(['ID', 'KIND', 'OF', 'STATE', 'APPLIED'], rows))
  },
})

export const digestCommand = action({
  name: 'digest',
  description: 'Show the digest of a week: what was saved, and the largest opportunities now.',
  args: {
    week: { type: 'string', valueHint: '2026-W47', description: 'An ISO week (default: the last one that is over)' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { week: 'week' },
  async run({ week, ...given }) {
    const digest = await readControlPlane(given, ({ call }) => call<Digest>('GET', `/api/advisor/digest${queryOf({ week })}`))
    if (given.json) return printJson(digest)
    console.log(`${localTime(digest.period_start)} to ${localTime(digest.period_end)}\n`)
    console.log(`${count(digest.requests)} requests, ${usd(digest.cost_usd)}`)
    console.log(`${usd(digest.total_usd_saved)} and ${count(digest.total_tokens_saved)} tokens saved`)
    if (digest.top_opportunities.length > 0) console.log(`\n${opportunities(digest.top_opportunities)}`)
  },
})

function opportunities(data: readonly Recommendation[]): string {
  const rows = data.map(({ id, kind, title, est_monthly_usd, confidence }) => [
    id,
    cell(kind),
    cell(title),
    est_monthly_usd > 0 ? usd(est_monthly_usd) : '–',
    `${Math.round(confidence * 100)} %`,
  ])
  return table(['ID', 'KIND', 'RECOMMENDATION', 'A MONTH', 'CONFIDENCE'], rows, {}, ['A MONTH', 'CONFIDENCE'])
}

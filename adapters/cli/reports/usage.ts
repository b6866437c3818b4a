// `hookgate usage`: prints usage and cost as sums, over time, and by group.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { type ControlPlane, queryOf, readControlPlane, WINDOW } from '../control-plane/control-plane.ts'
import { bar, count, localTime, milliseconds, sparkline, usd } from '../output/figures.ts'
import { cell, printJson, say, styled, table } from '../output/table.ts'

interface Figures {
  requests: number
  errors: number
  tokens: { prompt: number; completion: number; total: number }
  cost_usd: number
}

type Group = Figures & { p50_ms: number | null; p95_ms: number | null } & Record<string, unknown>

interface Summary {
  window: { since: string; until: string }
  truncated: boolean
  totals: Figures & {
    charge_usd: number
    cached_requests: number
    estimated_tokens: number
    estimated_cost_usd: number
    interrupted_requests: number
  }
  by_provider: Group[]
  by_model: Group[]
  by_key: Group[]
  by_virtual_model: Group[]
  by_cost_center: Group[]
}

interface Series {
  bucket: 'hour' | 'day'
  data: (Figures & { ts: string })[]
}

/** Column titles of the tables, by the member of the answer and of its rows. */
const LISTS = [
  ['by_provider', 'provider', 'PROVIDER'],
  ['by_model', 'model', 'MODEL'],
  ['by_key', 'key', 'KEY'],
  ['by_virtual_model', 'virtual_model', 'VIRTUAL MODEL'],
  ['by_cost_center', 'cost_center', 'COST CENTER'],
] as const

const BAR_WIDTH = 16
/** Maximum rows of each table. The API returns all rows. */
const ROWS = 15

export const usageCommand = action({
  name: 'usage',
  description: 'Show what was used and what it cost, by provider, model, key, virtual model and cost center.',
  args: {
    ...WINDOW,
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { window: 'window', since: 'since', until: 'until' },
  async run({ window, since, until, ...given }) {
    const query = queryOf({ window, since, until })
    const { summary, series } = await readControlPlane(given, ({ call }) => asked(call, query))
    if (given.json) return printJson(summary)
    const { totals } = summary
    console.log(`${localTime(summary.window.since)} to ${localTime(summary.window.until)}\n`)
    console.log(overTime(series))
    console.log(
      [
        `${count(totals.requests)} requests`,
        `${count(totals.errors)} errors`,
        `${count(totals.tokens.prompt)} + ${count(totals.tokens.completion)} tokens`,
        `${usd(totals.cost_usd)}`,
        ...(totals.cached_requests > 0 ? [`${count(totals.cached_requests)} from a cache`] : []),
      ].join(', '),
    )
    const uncertain = estimate(totals)
    if (uncertain !== null) console.log(styled(uncertain, 'dim'))
    for (const [list, member, title] of LISTS) {
      if (summary[list].length === 0) continue
      console.log(`\n${groups(title, summary[list], member, totals)}`)
    }
    if (summary.truncated)
      say.warn('There are more rows than are read for this: the figures are of the newest. `report` is exact.')
  },
})

/** Describes the estimated part of the sums; null when there is none. */
function estimate({ estimated_tokens, estimated_cost_usd, interrupted_requests }: Summary['totals']): string | null {
  const parts = [
    ...(estimated_tokens > 0 ? [`estimated: ${count(estimated_tokens)} tokens, ${usd(estimated_cost_usd)}`] : []),
    ...(interrupted_requests > 0 ? [`interrupted: ${count(interrupted_requests)} requests`] : []),
  ]
  return parts.length === 0 ? null : parts.join('; ')
}

async function asked(call: ControlPlane['call'], query: string): Promise<{ summary: Summary; series: Series }> {
  const summary = await call<Summary>('GET', `/api/usage${query}`)
  return { summary, series: await call<Series>('GET', `/api/usage/timeseries${query}`) }
}

function overTime({ bucket, data }: Series): string {
  const line = (name: string, values: readonly number[]) => `${name.padEnd(9)}${sparkline(values)}`
  return [
    line(
      'cost',
      data.map(({ cost_usd }) => cost_usd),
    ),
    line(
      'requests',
      data.map(({ requests }) => requests),
    ),
    styled(`${' '.repeat(9)}${bucket === 'hour' ? 'an' : 'a'} ${bucket} each, in UTC`, 'dim'),
    '',
  ].join('\n')
}

/** Bars show the cost, or the requests when nothing has a cost. */
function groups(title: string, list: readonly Group[], member: string, totals: Figures): string {
  const weight = ({ cost_usd, requests }: Figures) => (totals.cost_usd > 0 ? cost_usd : requests)
  const most = Math.max(...list.map(weight))
  const rows = list
    .slice(0, ROWS)
    .map((group) => [
      cell(group[member]),
      count(group.requests),
      count(group.errors),
      count(group.tokens.prompt),
      count(group.tokens.completion),
      milliseconds(group.p50_ms),
      milliseconds(group.p95_ms),
      usd(group.cost_usd),
      bar(most > 0 ? weight(group) / most : 0, BAR_WIDTH),
    ])
  const head = [title, 'REQUESTS', 'ERRORS', 'PROMPT', 'COMPLETION', 'P50', 'P95', 'COST', '']
  const left = list.length - rows.length
  return table(head, rows, {}, head.slice(1, -1)) + (left > 0 ? `\n… and ${left} more` : '')
}

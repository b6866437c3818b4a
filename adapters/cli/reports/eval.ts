// `hookgate eval`: ranks models by their results.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane, WINDOW } from '../control-plane/control-plane.ts'
import { count, localTime, milliseconds, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Ranking {
  window: { since: string; until: string }
  data: {
    rank: number
    provider: string
    model: string
    requests: number
    success_rate: number
    p95_ms: number | null
    avg_cost_usd: number | null
    quality: number | null
    score: number
  }[]
}

export const evalCommand = action({
  name: 'eval',
  description: 'Rank models by score, cost, latency or quality.',
  args: {
    optimize: { type: 'string', valueHint: 'score|cost|latency|quality', description: 'What to rank by (default score)' },
    ...WINDOW,
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { window: 'window', since: 'since', until: 'until', optimize: 'optimize' },
  async run({ window, since, until, optimize, ...given }) {
    const path = `/api/eval${queryOf({ window, since, until, optimize })}`
    const ranking = await readControlPlane(given, ({ call }) => call<Ranking>('GET', path))
    if (given.json) return printJson(ranking)
    console.log(`${localTime(ranking.window.since)} to ${localTime(ranking.window.until)}\n`)
    if (ranking.data.length === 0) return say.info('No model was asked in this window.')
    const rows = ranking.data.map((row) => [
      String(row.rank),
      cell(`${row.provider}/${row.model}`),
      count(row.requests),
      `${(row.success_rate * 100).toFixed(1)} %`,
      row.p95_ms === null ? '–' : milliseconds(row.p95_ms),
      row.avg_cost_usd === null ? '–' : usd(row.avg_cost_usd),
      row.quality === null ? '–' : row.quality.toFixed(2),
      row.score.toFixed(2),
    ])
    const head = ['#', 'MODEL', 'REQUESTS', 'OK', 'P95', 'EACH', 'QUALITY', 'SCORE']
    console.log(table(head, rows, {}, head.slice(2)))
  },
})

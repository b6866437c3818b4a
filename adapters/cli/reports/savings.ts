// `hookgate savings`: prints savings by source; `verify` verifies their receipts, `statement` writes those of a month.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane, WINDOW } from '../control-plane/control-plane.ts'
import { count, localTime, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Sum {
  tokens_saved: number
  usd_saved: number
  receipts: number
}

interface Totals extends Sum {
  window: { since: string; until: string }
  by_source: Record<string, Sum>
}

interface Report {
  ok: boolean
  count: number
  first_bad_seq: number | null
}

export const totals = action({
  name: 'savings',
  description:
    'Show what was saved, in all and by source. `hookgate savings verify` checks the receipts, `statement` sums up a month.',
  args: {
    ...WINDOW,
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { window: 'window', since: 'since', until: 'until' },
  async run({ window, since, until, ...given }) {
    const path = `/api/savings/totals${queryOf({ window, since, until })}`
    const found = await readControlPlane(given, ({ call }) => call<Totals>('GET', path))
    if (given.json) return printJson(found)
    console.log(`${localTime(found.window.since)} to ${localTime(found.window.until)}\n`)
    const rows = Object.entries(found.by_source).map(([source, sum]) => row(source, sum))
    const head = ['SOURCE', 'RECEIPTS', 'TOKENS', 'SAVED']
    console.log(table(head, [...rows, row('all', found)], {}, head.slice(1)))
  },
})

export const verify = action({
  name: 'verify',
  description: 'Walk the chain of savings receipts; exit 1 when one was altered or is missing.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const report = await readControlPlane(given, ({ call }) => call<Report>('GET', '/api/savings/verify'))
    if (given.json) {
      printJson(report)
      return report.ok ? 0 : 1
    }
    const { ok, count, first_bad_seq } = report
    if (!ok) throw new Error(`The chain of savings receipts is broken at ${first_bad_seq}: it was altered, added, or is missing.`)
    say.success(
      count === 0 ? 'There are no savings receipts.' : `${count} savings ${count === 1 ? 'receipt is' : 'receipts are'} whole.`,
    )
    return 0
  },
})

export const statement = action({
  name: 'statement',
  description: 'Write the statement of savings of a month: by source, what is measured and what estimated.',
  args: {
    month: {
      type: 'string',
      valueHint: '2026-11',
      description: 'A month in GATEWAY_BUDGET_TIMEZONE (default: the last one that is over)',
    },
    format: { type: 'enum', options: ['md', 'csv', 'json'], default: 'md', description: 'md (default), csv or json' },
    json: { type: 'boolean', description: 'The same as --format json' },
    ...PLANE,
  },
  fields: { month: 'month', format: 'format' },
  async run({ month, format, json, ...given }) {
    const isJson = json === true || format === 'json'
    const path = `/api/savings/statement${queryOf({ month, format: isJson ? 'json' : format })}`
    if (isJson) return printJson(await readControlPlane(given, ({ call }) => call<object>('GET', path)))
    process.stdout.write(await readControlPlane(given, async ({ download }) => (await download(path)).text()))
  },
})

function row(source: string, { receipts, tokens_saved, usd_saved }: Sum): string[] {
  return [cell(source), count(receipts), count(tokens_saved), usd(usd_saved)]
}

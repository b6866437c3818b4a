// Writes a report as JSON while it is read.
import { shownWindow, type Window } from '../../../core/http/window.ts'
import type { UsageSum } from '../ledger.ts'
import { type Column, usdText } from './columns.ts'

export async function* json(
  columns: readonly Column[],
  sums: AsyncIterable<UsageSum>,
  window: Window,
  by: readonly string[],
): AsyncGenerator<string> {
  const { since, until } = shownWindow(window)
  yield `{"since":${JSON.stringify(since)},"until":${JSON.stringify(until)},"group_by":${JSON.stringify(by)},"data":[`
  const figures = columns.filter(({ kind }) => kind !== 'text')
  const totals = figures.map(() => 0)
  let separator = ''
  for await (const sum of sums) {
    figures.forEach(({ value }, index) => {
      totals[index] = (totals[index] as number) + (value(sum) as number)
    })
    yield `${separator}{${columns.map((column) => member(column, column.value(sum))).join(',')}}`
    separator = ','
  }
  yield `],"totals":{${figures.map((column, index) => member(column, totals[index] as number)).join(',')}}}`
}

function member({ name, kind }: Column, value: string | number | null): string {
  return `"${name}":${kind === 'usd' ? usdText(value as number) : JSON.stringify(value)}`
}

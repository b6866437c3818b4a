// Writes a report as CSV (RFC 4180), a page of groups at a time.
import { csvText } from '../../../core/text/csv-text.ts'
import type { UsageSum } from '../ledger.ts'
import { type Column, usdText } from './columns.ts'

export async function* csv(columns: readonly Column[], sums: AsyncIterable<UsageSum>): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => name).join(',')}\r\n`
  for await (const sum of sums) yield `${columns.map((column) => cell(column, sum)).join(',')}\r\n`
}

function cell({ kind, value }: Column, sum: UsageSum): string {
  const found = value(sum)
  if (found === null) return ''
  if (kind !== 'text') return kind === 'usd' ? usdText(found as number) : String(found)
  return csvText(found as string)
}

// Formats one logged request as a line with fixed column widths, because later rows are unknown.
import { count, localTime, milliseconds, usd } from '../output/figures.ts'
import { cell, styled } from '../output/table.ts'
import type { LogRow } from './row.ts'

interface Column {
  readonly title: string
  readonly width: number
  readonly figure?: true
  readonly show: (row: LogRow) => string
}

const COLUMNS: readonly Column[] = [
  { title: 'TIME', width: 19, show: ({ created_at }) => localTime(created_at) },
  { title: 'STATUS', width: 6, show: ({ status }) => String(status) },
  { title: 'TOOK', width: 8, figure: true, show: ({ latency_ms }) => milliseconds(latency_ms) },
  { title: 'FIRST', width: 8, figure: true, show: ({ ttft_ms }) => milliseconds(ttft_ms) },
  { title: 'TOKENS', width: 13, figure: true, show: ({ tokens }) => `${count(tokens.prompt)}+${count(tokens.completion)}` },
  { title: 'COST', width: 10, figure: true, show: ({ cost_usd }) => usd(cost_usd) },
  { title: 'KEY', width: 14, show: ({ api_key_label }) => cell(api_key_label) },
  { title: 'MODEL', width: 36, show: modelOf },
  { title: 'REQUEST', width: 40, show: ({ request_id }) => request_id },
]

export function head(): string {
  return styled(
    COLUMNS.map((column) => fitted(column, column.title))
      .join('  ')
      .trimEnd(),
    'bold',
  )
}

export function logLine(row: LogRow): string {
  const cells = COLUMNS.map((column) => {
    const text = fitted(column, column.show(row))
    return column.title === 'STATUS' ? styled(text, styleOf(row.status)) : text
  })
  return [...cells, styled(remarks(row), row.status >= 400 ? styleOf(row.status) : 'dim')].join('  ').trimEnd()
}

function styleOf(status: number): 'green' | 'yellow' | 'red' | 'dim' {
  // 499: the client left.
  if (status === 499) return 'dim'
  if (status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}

function modelOf({ provider, model, virtual_model, requested_model }: LogRow): string {
  if (model === null) return cell(requested_model)
  const target = provider === null ? model : `${provider}/${model}`
  return cell(virtual_model === null ? target : `${virtual_model} → ${target}`)
}

function remarks({ error_code, attempts, cached, source }: LogRow): string {
  return [
    ...(error_code === null ? [] : [cell(error_code)]),
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(cached ? ['cached'] : []),
    ...(source === 'api' ? [] : [cell(source)]),
  ].join(', ')
}

function fitted({ width, figure }: Pick<Column, 'width' | 'figure'>, text: string): string {
  const short = text.length > width ? `${text.slice(0, width - 1)}…` : text
  return figure ? short.padStart(width) : short.padEnd(width)
}

// Prints a simulation as tables.
import type { AttemptLine, RequestLine, SummaryLine } from '../../simulation/lines.ts'
import { milliseconds, usd } from '../output/figures.ts'
import { cell, styled, table } from '../output/table.ts'

export function requestTable(lines: readonly RequestLine[]): string {
  const rows = lines.map(({ at_ms, model, attempts, status, error, latency_ms }) => [
    ...[seconds(at_ms), model, String(status), `${latency_ms} ms`],
    cell(attempts.map(attemptText).join(' ') || error),
  ])
  const styles = Object.fromEntries(lines.map(({ status }) => [String(status), status < 400 ? 'green' : 'red'] as const))
  return table(['TIME', 'MODEL', 'STATUS', 'LATENCY', 'ATTEMPTS'], rows, styles)
}

export function summaryText(summary: SummaryLine): string {
  const { requests, succeeded, success_rate, upstream_calls, attempts_per_request, duration_ms, accounts } = summary
  const unpriced = summary.unpriced_requests === 0 ? '' : ` (${summary.unpriced_requests} without a known price)`
  const rows = accounts.map(({ connection, calls, cooldown_ms, open_ms, refused_ms }) => [
    ...[connection, String(calls), seconds(cooldown_ms), seconds(open_ms), seconds(refused_ms)],
  ])
  return [
    styled(`${succeeded} of ${requests} requests succeeded (${(success_rate * 100).toFixed(2)} %)`, 'bold'),
    `p95 ${milliseconds(summary.p95_ms)}, cost ${usd(summary.cost_usd)}${unpriced}`,
    `${upstream_calls} upstream calls, ${attempts_per_request} a request, in ${seconds(duration_ms)} of simulated time`,
    '',
    table(['ACCOUNT', 'CALLS', 'COOLDOWN', 'OPEN', 'REFUSED'], rows),
  ].join('\n')
}

function attemptText({ connection, status, failure, skipped, back_in_ms }: AttemptLine): string {
  if (skipped === null) return `${connection}:${status ?? failure ?? '-'}`
  return `${connection}:skipped(${skipped}${back_in_ms === null ? '' : ` ${seconds(back_in_ms)}`})`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`
}

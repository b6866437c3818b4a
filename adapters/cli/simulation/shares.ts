// For each model of a simulation: which account answered how often, and which were skipped and why.
import type { RequestLine } from '../../simulation/lines.ts'
import { bar, milliseconds, usd } from '../output/figures.ts'
import { printable, styled } from '../output/table.ts'
import { type FirstDifference, p95, servedBy } from './compare.ts'

const BAR_WIDTH = 10
const MOST_SKIPS = 3

export function sharesText(lines: readonly RequestLine[]): string {
  const models = new Map<string, RequestLine[]>()
  for (const line of lines) models.set(line.model, [...(models.get(line.model) ?? []), line])
  return [...models].map(([model, own]) => shareLine(model, own)).join('\n')
}

function shareLine(model: string, lines: readonly RequestLine[]): string {
  const served = counted(lines.map(({ attempts }) => servedBy(attempts) ?? 'failed'))
  const skipped = counted(
    lines.flatMap(({ attempts }) =>
      attempts.flatMap((one) => (one.skipped === null ? [] : [`${one.connection}\0${one.skipped}`])),
    ),
  )
  const parts = served.map(([name, count]) => {
    const share = count / lines.length
    return `${printable(name)} ${(share * 100).toFixed(1)} % ${styled(bar(share, BAR_WIDTH), name === 'failed' ? 'red' : 'green')}`
  })
  const skips = skipped.slice(0, MOST_SKIPS).map(([text, count]) => {
    const [name = '', reason = ''] = text.split('\0')
    return `${printable(name)} ×${count.toLocaleString('en-US')} ${reason}`
  })
  return [
    `${styled(printable(model), 'bold')}   ${parts.join('   ')}`,
    ...(skips.length > 0 ? [`skipped ${skips.join(', ')}`] : []),
  ].join('   ')
}

/** Most frequent first. */
function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

/** The effect on success and latency, and the first request with another outcome. */
export function comparisonText(
  saved: readonly RequestLine[],
  now: readonly RequestLine[],
  difference: FirstDifference | null,
  explained: boolean,
): string {
  const rate = (lines: readonly RequestLine[]): string =>
    `${((lines.filter(({ status }) => status < 400).length / lines.length) * 100).toFixed(1)} %`
  const head = `against the saved config: ok ${rate(saved)} → ${rate(now)}   p95 ${milliseconds(p95(saved))} → ${milliseconds(p95(now))}   ${costText(saved, now)}`
  if (difference === null) return `${head}\nno request has another outcome`
  const { request, saved: was, now: is } = difference
  const more = explained ? '' : `     --explain ${request}`
  return `${head}\nfirst difference to the saved config: request ${request} (${printable(was)} → ${printable(is)})${more}`
}

/** For example `cost +4.2 %`. Requests without a known price are not in it, and are counted when the sides have another number of them. */
function costText(saved: readonly RequestLine[], now: readonly RequestLine[]): string {
  const sum = (lines: readonly RequestLine[]): number => lines.reduce((total, { cost_usd }) => total + (cost_usd ?? 0), 0)
  const unpriced = (lines: readonly RequestLine[]): number =>
    lines.filter(({ status, cost_usd }) => status < 400 && cost_usd === null).length
  const [was, is] = [sum(saved), sum(now)]
  const percent = was === 0 ? 0 : ((is - was) / was) * 100
  const text = was === 0 && is !== 0 ? `${usd(was)} → ${usd(is)}` : `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`
  const [before, after] = [unpriced(saved), unpriced(now)]
  return `cost ${text}${before === after ? '' : ` (without a known price: ${before} → ${after})`}`
}

/** Each call and each skipped account of one request. @param saved the same request against the saved configuration. */
export function explanation(number: number, line: RequestLine, saved: RequestLine | undefined): string {
  const told = ({ model, at_ms, status, latency_ms, error, attempts }: RequestLine): string[] => [
    `${printable(model)} at ${(at_ms / 1000).toFixed(1)} s: ${status} after ${milliseconds(latency_ms)}`,
    ...attempts.map(({ connection, model, status, failure, skipped, back_in_ms }) => {
      const back = back_in_ms === null ? '' : `, back in ${milliseconds(back_in_ms)}`
      const what = skipped === null ? (status ?? failure ?? 'no answer') : `skipped: ${skipped}${back}`
      return `  ${printable(`${connection} (${model})`)}  ${what}`
    }),
    ...(error === null ? [] : [`  ${printable(error)}`]),
  ]
  return [
    styled(`request ${number}`, 'bold'),
    ...told(line),
    ...(saved === undefined ? [] : [styled('with the saved config', 'bold'), ...told(saved)]),
  ].join('\n')
}

// `hookgate bench`: measures this gateway on this computer, against a bare proxy and a built-in upstream.
import { action, JSON_FLAG } from '../action.ts'
import { failUsage } from '../fail.ts'
import { progress } from '../output/progress.ts'
import { printJson, say, styled } from '../output/table.ts'
import type { Figures } from './run.ts'

const MAX_SECONDS = 3600
const MAX_CONCURRENCY = 1024

export const benchCommand = action({
  name: 'bench',
  description: 'Measure requests a second, latency and CPU time of this gateway on this computer, beside a bare proxy.',
  args: {
    seconds: { type: 'string', description: 'Length of each of the two measurements; default: 10', valueHint: 'number' },
    concurrency: { type: 'string', description: 'Requests at once; default: 64', valueHint: 'number' },
    ...JSON_FLAG,
  },
  async run(given) {
    const seconds = within('seconds', given.seconds ?? '10', MAX_SECONDS)
    const concurrency = within('concurrency', given.concurrency ?? '64', MAX_CONCURRENCY)
    const { bench } = await import('./run.ts')
    const bar = progress()
    const onProgress = (share: number, rate: number): void => bar.at(share, `${thousands(Math.round(rate))} req/s`)
    const report = await bench({ seconds, concurrency, onProgress }).finally(bar.done)
    const { gateway, bare_proxy, ratio, ratio_goal: goal } = report
    if (given.json) printJson(report)
    else {
      console.log(`${styled('gateway', 'bold')}     ${line(gateway)}`)
      console.log(`${styled('bare proxy', 'bold')}  ${line(bare_proxy)}`)
      console.log(
        `${styled('ratio', 'bold')}       ${ratio.toFixed(2)} of CPU time per request (goal ≤ ${goal.toFixed(2)})     upstream: built-in mock`,
      )
    }
    const errors = gateway.errors + bare_proxy.errors
    if (errors > 0) say.error(`${errors} requests failed, so the figures mean little.`)
    return errors > 0 ? 1 : 0
  },
})

function line({ requests_per_second, p50_ms, p99_ms, errors, cpu_us_per_request }: Figures): string {
  return [
    `${thousands(requests_per_second)} req/s`.padEnd(14),
    `p50 ${p50_ms} ms  p99 ${p99_ms} ms`.padEnd(28),
    `errors ${errors}`.padEnd(10),
    `CPU ${Math.round(cpu_us_per_request)} µs/req`,
  ].join(' ')
}

function thousands(value: number): string {
  return value.toLocaleString('en-US')
}

function within(flag: string, text: string, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  return failUsage(`\`--${flag}\`: \`${text.slice(0, 60)}\` is not a whole number from 1 to ${most}.`)
}

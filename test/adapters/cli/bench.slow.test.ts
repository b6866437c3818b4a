// `hookgate bench`: figures of a short run, and no process or folder that is left behind.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quantile } from '../../../adapters/cli/bench/load.ts'
import type { BenchReport } from '../../../adapters/cli/bench/run.ts'
import { progressBar } from '../../../adapters/cli/output/progress.ts'
import { folder, hookgate, hookgateRoot } from './hookgate.ts'
import { command } from './in-process.ts'

it('measures gateway and bare proxy, and leaves nothing behind', async () => {
  const cwd = folder({})
  const env = { TMPDIR: folder({}) }
  const { code, stdout, stderr } = await hookgate(['bench', '--seconds', '1', '--concurrency', '4', '--json'], { cwd, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const report = JSON.parse(stdout) as BenchReport
  expect(report).toMatchObject({ seconds: 1, concurrency: 4, upstream: 'built-in mock' })
  for (const figures of [report.gateway, report.bare_proxy]) {
    expect(figures).toMatchObject({ errors: 0 })
    expect(figures.requests).toBeGreaterThan(10)
    expect(figures.cpu_us_per_request).toBeGreaterThan(0)
    expect(figures.p99_ms).toBeGreaterThanOrEqual(figures.p50_ms)
  }
  expect(report.ratio).toBeCloseTo(report.gateway.cpu_us_per_request / report.bare_proxy.cpu_us_per_request, 1)
  expect(report.ratio_goal).toBe(goalInDocs())
  expect(readdirSync(env.TMPDIR).filter((name) => name.startsWith('hookgate-bench'))).toEqual([])
})

it('prints the goal beside the ratio', async () => {
  const { code, stdout } = await hookgate(['bench', '--seconds', '1', '--concurrency', '4'], { cwd: folder({}) })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ratio +\d+\.\d\d of CPU time per request \(goal ≤ \d\.\d\d\) +upstream: built-in mock$/m)
})

/** The goal that the documentation states for the whole preset. */
function goalInDocs(): number {
  const text = readFileSync(join(hookgateRoot, 'docs/performance.md'), 'utf8')
  return Number(/^\| \*\*everything on: goal\*\* \(limit\) \| \*\*([\d.]+)\*\*/m.exec(text)?.[1])
}

it.each([
  [['--seconds', '0'], /--seconds: 0 is not a whole number from 1 to 3600/],
  [['--concurrency', 'many'], /--concurrency: many is not a whole number from 1 to 1024/],
])('%j is a wrong command line', async (args, message) => {
  expect(await command(['bench', ...args])).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
})

it('counts quantiles and draws bars', () => {
  const times = Array.from({ length: 100 }, (_, index) => index + 1)
  expect([quantile(times, 0.5), quantile(times, 0.99), quantile([], 0.5)]).toEqual([51, 100, 0])
  expect([0, 0.5, 2].map(progressBar)).toEqual(['[                ]', '[████████        ]', '[████████████████]'])
})

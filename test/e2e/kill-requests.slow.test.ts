// A short run of bench/kill-requests.mjs: kill -9 under requests without a budget, which share their traces.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hookgate, hookgateRoot, run } from '../adapters/cli/hookgate.ts'

it('an answered request has one row, however often the gateway is killed', { timeout: 600_000 }, async () => {
  // Waits for the current build.
  await hookgate(['--version'])
  const { code, stdout, stderr } = await run([join(hookgateRoot, 'bench/kill-requests.mjs'), '--cycles', '6', '--json'])
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`)
  const figures = JSON.parse(stdout) as Record<string, number>
  expect(figures).toMatchObject({ cycles: 6, lost: 0, twice: 0, unknown: 0, open: 0, damaged: 0 })
  expect(figures.answered).toBeGreaterThanOrEqual(60)
  expect(figures.interrupted).toBeGreaterThan(0)
})

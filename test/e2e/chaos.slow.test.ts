// A short run of bench/chaos.mjs: kill -9 under streaming load with budgets near their limits, twenty times on SQLite and a few on
// PostgreSQL. The long one is `npm run chaos -- --cycles 500`.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hookgate, hookgateRoot, run } from '../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'

async function chaos(...args: string[]): Promise<Record<string, number>> {
  // Waits for the current build.
  await hookgate(['--version'])
  const common = ['--longest', '1200', '--width', '48', '--slack', '20000', '--json']
  const { code, stdout, stderr } = await run([join(hookgateRoot, 'bench/chaos.mjs'), ...common, ...args])
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`)
  return JSON.parse(stdout) as Record<string, number>
}

const missing = await whyNoPostgres()
const CLEAN = { lost: 0, overspendNano: 0, damaged: 0, violations: 0 }

describe('killed again and again, the gateway', () => {
  it('loses no row and passes no limit on SQLite', { timeout: 600_000 }, async () => {
    const figures = await chaos('--cycles', '20', '--seed', '20261121')
    expect(figures).toMatchObject({ cycles: 20, ...CLEAN })
    expect(figures.settled).toBeGreaterThan(50)
    expect(figures.interrupted).toBeGreaterThan(50)
    expect(figures.refused).toBeGreaterThan(20)
  })

  it('nor when one of four workers is killed, and the others go on', { timeout: 600_000 }, async () => {
    const figures = await chaos('--cycles', '8', '--seed', '20261125', '--workers', '4', '--kill', 'worker')
    expect(figures).toMatchObject({ cycles: 8, ...CLEAN })
    expect(figures.settled).toBeGreaterThan(20)
    expect(figures.interrupted).toBeGreaterThan(5)
  })

  it('nor when the primary process of four workers is killed', { timeout: 600_000 }, async () => {
    const figures = await chaos('--cycles', '6', '--seed', '20261126', '--workers', '4')
    expect(figures).toMatchObject({ cycles: 6, ...CLEAN })
    expect(figures.interrupted).toBeGreaterThan(10)
  })

  it.skipIf(missing !== null)('nor on PostgreSQL', { timeout: 600_000 }, async () => {
    const server = await testPostgres()
    try {
      expect(await chaos('--cycles', '4', '--database', server.url)).toMatchObject({ cycles: 4, ...CLEAN })
    } finally {
      await server.drop()
    }
  })
})

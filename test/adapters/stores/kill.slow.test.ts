// kill -9 at seeded times: no acknowledged write is lost or incomplete, and the file is intact.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killCycles } from '../../support/kill-cycles.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'

const noPostgres = await whyNoPostgres()
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

describe('a killed writer', () => {
  it('on SQLite, 20 times', { timeout: 180_000 }, async () => {
    const figures = await killCycles({ url: null, dir, cycles: 20, seed: 20 })
    expect(figures).toMatchObject({ cycles: 20, lost: 0, torn: 0, damaged: 0 })
    expect(figures.acknowledged).toBeGreaterThan(200)
  })
})

describe.skipIf(noPostgres !== null)(`a killed writer${noPostgres === null ? '' : ` (${noPostgres})`}`, () => {
  it('on PostgreSQL, 5 times', { timeout: 90_000 }, async () => {
    const server = await testPostgres()
    try {
      const figures = await killCycles({ url: server.url, dir, cycles: 5, seed: 5 })
      expect(figures).toMatchObject({ cycles: 5, lost: 0, torn: 0 })
      expect(figures.acknowledged).toBeGreaterThan(20)
    } finally {
      await server.drop()
    }
  })
})

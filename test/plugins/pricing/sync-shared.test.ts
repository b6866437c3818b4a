// Two syncs at once, in one process and in several.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { type CardServer, cardServer } from '../../support/rate-cards/card-server.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { type World, world } from './support.ts'

let t: World
const undo: (() => unknown)[] = []
afterEach(async () => {
  await t.close()
  for (const fn of undo.splice(0)) await fn()
})

const runs = () =>
  (t.gateway.db as Database).all<{ id: number; reason: string; status: string }>(
    sql`SELECT id, reason, status FROM pricing_runs ORDER BY id`,
  )

describe('two at once', () => {
  it('are one run in a process, and another process is told to wait', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-pricing-'))
    undo.push(() => rmSync(dir, { recursive: true, force: true }))
    const cards: CardServer = await cardServer()
    undo.push(() => cards.close())
    const env = { DATA_DIR: dir, MASTER_KEY }
    t = await world({ env, cards })
    const other = await world({ env, cards })
    cards.primary = 'hang'
    const running = [t.sync(), t.sync()]
    await expect.poll(() => cards.asked.length).toBe(1)
    const refused = await other.fetch('/api/pricing/sync', { method: 'POST' })
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'sync_running' } }])
    await t.clock.advance('90s')
    const [one, two] = await Promise.all(running)
    expect(one?.id).toBe(two?.id)
    expect(cards.asked).toHaveLength(2)
    await other.close()
  })

  it('what another process has stored meanwhile is not written over', async () => {
    t = await world()
    await t.sync()
    await t.gateway.db?.run(sql`UPDATE pricing_card SET run_id = 99`)
    expect(await t.sync()).toMatchObject({
      id: 2,
      status: 'failed',
      error: 'Another process has stored prices meanwhile (run 99).',
    })
    expect(await t.price('openai/gpt-4o')).toMatchObject({ source: 'primary' })
    expect(await t.sync()).toMatchObject({ id: 3, status: 'ok' })
  })

  it('a claim whose process was killed ends with its lease', async () => {
    t = await world()
    const now = t.clock.now()
    await t.gateway.db?.run(
      sql`INSERT INTO pricing_runs (reason, status, started_at, lease_until) VALUES ('timer', 'running', ${now}, ${now + 60_000})`,
    )
    await t.clock.advance('2s')
    await expect.poll(() => t.clock.pending).toBeGreaterThan(0)
    expect(t.cards.asked).toEqual([])
    await t.clock.advance('211s')
    await expect.poll(runs).toEqual([
      { id: 1, reason: 'timer', status: 'failed' },
      { id: 2, reason: 'start', status: 'ok' },
    ])
  })
})

// Limits of the log by age and by size, on each engine and with the fake clock.
import { describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { insertBodies } from '../../../plugins/request-log/body-store.ts'
import { migrations } from '../../../plugins/request-log/migrations.ts'
import { type Limits, prune, ROW_BYTES } from '../../../plugins/request-log/retention.ts'
import { ENGINES } from '../../support/engines.ts'
import { entry, idOf, write } from './rows.ts'
import { ask, loggingGateway, logs } from './support.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 5, 1)
const OFF: Limits = { days: 0, bodyDays: 0, maxBytes: 0 }

/** Rows 1 to `count`, one per day, the last one today; with bodies of this size. */
async function fill(db: Database, count: number, bodyBytes = 0): Promise<void> {
  const at = (n: number) => NOW - (count - n) * DAY
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  await write(
    db,
    numbers.map((n) => entry(n, { at: at(n) })),
  )
  if (bodyBytes === 0) return
  await insertBodies(
    db,
    numbers.map((n) => ({
      request_id: idOf(n),
      org_id: 0,
      created_at: at(n),
      request_sealed: 'x'.repeat(bodyBytes / 2),
      response_sealed: 'y'.repeat(bodyBytes / 2),
      request_truncated: 0,
      response_truncated: 0,
    })),
  )
}

async function left(db: Database): Promise<{ rows: number; bodies: number; bytes: number }> {
  const one = async (text: string) => ((await db.get<{ n: number | null }>({ text, params: [] }))?.n ?? 0) as number
  const bytes = await one('SELECT body_bytes AS n FROM request_log_totals')
  expect(bytes).toBe(await one('SELECT SUM(bytes) AS n FROM request_log_bodies'))
  return {
    rows: await one('SELECT COUNT(*) AS n FROM request_log'),
    bodies: await one('SELECT COUNT(*) AS n FROM request_log_bodies'),
    bytes,
  }
}

/** Runs to its end, with all pauses. */
async function pruned(db: Database, limits: Partial<Limits>, clock: FakeClock = fakeClock(NOW)) {
  let done = false
  const running = prune(db, clock, { ...OFF, ...limits }, new AbortController().signal).finally(() => {
    done = true
  })
  while (!done) {
    await clock.advance(25)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return running
}

for (const engine of ENGINES) {
  describe.skipIf(engine.missing !== null)(`on ${engine.name}`, () => {
    const withLog = (use: (db: Database) => Promise<void>) => engine.with('request-log', migrations, use)

    it('rows older than their days go, with their bodies', () =>
      withLog(async (db) => {
        await fill(db, 20, 100)
        expect(await pruned(db, { days: 5 })).toEqual({ rows: 14, bodies: 14 })
        expect(await left(db)).toEqual({ rows: 6, bodies: 6, bytes: 600 })
        expect(await pruned(db, { days: 5 })).toEqual({ rows: 0, bodies: 0 })
      }))

    it('bodies go before their rows where they have days of their own', () =>
      withLog(async (db) => {
        await fill(db, 20, 100)
        expect(await pruned(db, { days: 10, bodyDays: 3 })).toEqual({ rows: 9, bodies: 16 })
        expect(await left(db)).toEqual({ rows: 11, bodies: 4, bytes: 400 })
      }))

    it('bodies do not outlive their rows, whatever their own days say', () =>
      withLog(async (db) => {
        await fill(db, 20, 100)
        await pruned(db, { days: 5, bodyDays: 15 })
        expect(await left(db)).toMatchObject({ rows: 6, bodies: 6 })
      }))

    it('more than a thousand go in steps', () =>
      withLog(async (db) => {
        for (let n = 0; n < 2500; n += 500)
          await write(
            db,
            Array.from({ length: 500 }, (_, i) => entry(n + i, { at: NOW - 9 * DAY })),
          )
        const clock = fakeClock(NOW)
        expect((await pruned(db, { days: 1 }, clock)).rows).toBe(2500)
        // A pause after each of three steps.
        expect(clock.monotonic()).toBeGreaterThanOrEqual(75)
      }))

    it('too many bytes: the oldest bodies go, just as many as are too much, and only then rows', () =>
      withLog(async (db) => {
        await fill(db, 20, 1000)
        expect(await pruned(db, { maxBytes: 20 * ROW_BYTES + 12_500 })).toEqual({ rows: 0, bodies: 8 })
        const oldest = await db.get({ text: 'SELECT MIN(created_at) AS at FROM request_log_bodies', params: [] })
        expect(oldest).toEqual({ at: NOW - 11 * DAY })
        expect(await pruned(db, { maxBytes: 5 * ROW_BYTES })).toEqual({ rows: 15, bodies: 12 })
        expect(await left(db)).toEqual({ rows: 5, bodies: 0, bytes: 0 })
        const first = await db.get({ text: 'SELECT MIN(created_at) AS at FROM request_log', params: [] })
        expect(first).toEqual({ at: NOW - 4 * DAY })
      }))

    it('0 keeps everything', () =>
      withLog(async (db) => {
        await fill(db, 20, 100)
        expect(await pruned(db, OFF)).toEqual({ rows: 0, bodies: 0 })
        expect(await left(db)).toMatchObject({ rows: 20, bodies: 20 })
      }))

    it('bodies written twice are counted once', () =>
      withLog(async (db) => {
        await fill(db, 3, 100)
        await fill(db, 3, 100)
        expect(await left(db)).toEqual({ rows: 3, bodies: 3, bytes: 300 })
      }))
  })
}

describe('the job', () => {
  it('runs when the gateway starts, and each hour', async () => {
    const clock = fakeClock(NOW)
    const t = await loggingGateway({ ports: { clock }, env: { LOG_RETENTION_DAYS: '2' } })
    const answered = async () => {
      await t.post('/v1/chat/completions', ask('nobody/m'))
      await t.untilSettled(t.settled.length)
      await logs(t)
    }
    await answered()
    await clock.advance('47h')
    await answered()
    expect((await logs(t)).data).toHaveLength(2)
    await clock.advance('3h')
    expect((await logs(t)).data).toHaveLength(1)
    await clock.advance('48h')
    expect((await logs(t)).data).toHaveLength(0)
    await t.close()
  })

  it('that is under way ends with the gateway', async () => {
    const clock = fakeClock(NOW)
    const t = await loggingGateway({ ports: { clock }, env: { LOG_RETENTION_DAYS: '1' } })
    await write(
      t.gateway.db as Database,
      Array.from({ length: 1500 }, (_, n) => entry(n, { at: NOW - 9 * DAY })),
    )
    await clock.advance('66m')
    await t.close()
  })
})

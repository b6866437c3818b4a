// The outbox in the database: events that are queued twice, debounced, fanned out, pruned.
import { describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import type { Database, Statement } from '../../../core/types/ports/db.ts'
import { prune } from '../../../plugins/webhooks/delivery/prune.ts'
import { claim } from '../../../plugins/webhooks/delivery/store.ts'
import { migrations } from '../../../plugins/webhooks/migrations.ts'
import { deliveryId, envelopeOf, queueStatements } from '../../../plugins/webhooks/queue.ts'
import { ENGINES } from '../../support/engines.ts'
import { type RecordingLog, recordingLog } from '../../support/recording-log.ts'
import { SITES } from '../../support/sites.ts'
import { envelopeIn, SOMETHING, until, type World, world } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const event = (at = NOW) => envelopeOf(SOMETHING, at)

async function counts(db: Database): Promise<{ events: number; deliveries: number }> {
  const of = async (table: string) => (await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ${sql.id(table)}`))?.n as number
  return { events: await of('webhooks_events'), deliveries: await of('webhooks_deliveries') }
}

for (const { name, missing, with: use } of ENGINES) {
  describe.skipIf(missing !== null)(`statements on ${name}`, () => {
    const on = (test: (db: Database, apply: (list: Statement[]) => Promise<void>) => Promise<void>) =>
      use('webhooks', migrations, (db) =>
        test(db, async (list) => {
          expect(await db.commit([list])).toEqual([{ ok: true }])
        }),
      )

    it('applied twice, an event is there once, with one delivery for each endpoint', () =>
      on(async (db, apply) => {
        for (const debounce of [undefined, { key: '0:x:y', from: NOW, until: NOW + 60_000 }]) {
          const list = queueStatements(event(), ['ep_a', 'ep_b'], NOW, debounce && { debounce })
          const before = await counts(db)
          await apply(list)
          await apply(list)
          expect(await counts(db)).toEqual({ events: before.events + 1, deliveries: before.deliveries + 2 })
        }
      }))

    it('what comes within the time of a key is dropped; when it has ended the next is told', () =>
      on(async (db, apply) => {
        const at = (ms: number) =>
          queueStatements(event(NOW + ms), ['ep_a'], NOW + ms, {
            debounce: { key: 'k', from: NOW + ms, until: NOW + ms + 60_000 },
          })
        for (const ms of [0, 1, 30_000, 59_999]) await apply(at(ms))
        expect(await counts(db)).toEqual({ events: 1, deliveries: 1 })
        await apply(at(60_000))
        expect(await counts(db)).toEqual({ events: 2, deliveries: 2 })
        await apply(at(119_999))
        expect(await counts(db)).toEqual({ events: 2, deliveries: 2 })
      }))

    it('of fifty units that meet with the same key, one is told', () =>
      on(async (db) => {
        const units = Array.from({ length: 50 }, () =>
          queueStatements(event(), ['ep_a', 'ep_b'], NOW, { debounce: { key: 'storm', from: NOW, until: NOW + 60_000 } }),
        )
        await Promise.all(units.map((unit) => db.commit([unit])))
        expect(await counts(db)).toEqual({ events: 1, deliveries: 2 })
      }))

    it('units that bring several keys in different orders do not wait for each other for ever', () =>
      on(async (db) => {
        const keys = ['a', 'b', 'c', 'd']
        const unit = (order: string[]) =>
          order.flatMap((key) => queueStatements(event(), ['ep_a'], NOW, { debounce: { key, from: NOW, until: NOW + 60_000 } }))
        await Promise.all(Array.from({ length: 20 }, (_, i) => db.commit([unit(i % 2 === 0 ? keys : [...keys].reverse())])))
        expect(await counts(db)).toEqual({ events: 4, deliveries: 4 })
      }))

    it('a delivery is claimed by one of many, and no endpoint has more than four claimed', () =>
      on(async (db, apply) => {
        for (let i = 0; i < 10; i++) await apply(queueStatements(event(), ['ep_a'], NOW))
        const ids = (await db.all<{ id: string }>(sql`SELECT id FROM webhooks_deliveries`)).map(({ id }) => id)
        const claims = await Promise.all(
          ids.flatMap((id) =>
            ['x', 'y', 'z'].map((owner) => claim(db, { id, endpointId: 'ep_a' }, { owner, until: NOW + 60_000 }, NOW)),
          ),
        )
        expect(claims.filter(Boolean)).toHaveLength(4)
        expect(await claim(db, { id: deliveryId(NOW), endpointId: 'ep_a' }, { owner: 'x', until: NOW + 1 }, NOW)).toBe(false)
        // When the leases have ended they are free again.
        const later = NOW + 60_000
        expect(await claim(db, { id: ids[0] as string, endpointId: 'ep_a' }, { owner: 'n', until: later + 1 }, later)).toBe(true)
      }))

    it('delivered rows go after 7 days, those that were given up after 30, pending ones stay; in chunks', () =>
      on(async (db, apply) => {
        const DAY = 24 * 3_600_000
        const insert = async (status: string, finishedAt: number | null, count: number) => {
          const list = Array.from({ length: count }, () =>
            queueStatements(event(NOW - 60 * DAY), ['ep_a'], NOW - 60 * DAY),
          ).flat()
          await apply(list)
          await db.run(
            sql`UPDATE webhooks_deliveries SET status = ${status}, finished_at = ${finishedAt} WHERE status = 'pending' AND finished_at IS NULL AND attempts = 0`,
          )
          await db.run(sql`UPDATE webhooks_deliveries SET attempts = 1`)
        }
        await db.run(
          sql`INSERT INTO webhooks_endpoints (public_id, url, created_at, updated_at) VALUES ('ep_a', 'https://hooks.example.com/', 0, 0)`,
        )
        await insert('delivered', NOW - 7 * DAY - 1, 1500)
        await insert('delivered', NOW - 7 * DAY, 1)
        await insert('dead', NOW - 30 * DAY - 1, 1)
        await insert('failed', NOW - 30 * DAY - 1, 1)
        await insert('dead', NOW - 30 * DAY, 1)
        await insert('failed', NOW - 29 * DAY, 1)
        await insert('pending', null, 1)
        await db.run(
          sql`INSERT INTO webhooks_dedup (key, until, event_id) VALUES ('old', ${NOW - 2 * DAY}, 'e'), ('new', ${NOW}, 'e')`,
        )
        await prune(db, NOW, new AbortController().signal)
        const left = await db.all<{ status: string }>(sql`SELECT status FROM webhooks_deliveries ORDER BY seq`)
        expect(left.map(({ status }) => status)).toEqual(['delivered', 'dead', 'failed', 'pending'])
        expect(await counts(db)).toEqual({ events: 4, deliveries: 4 })
        expect(await db.all(sql`SELECT key FROM webhooks_dedup`)).toEqual([{ key: 'new' }])
        // Its endpoint goes: what waits is given up.
        await db.run(sql`UPDATE webhooks_endpoints SET archived_at = 1`)
        await prune(db, NOW, new AbortController().signal)
        const statuses = await db.all<{ status: string }>(sql`SELECT status FROM webhooks_deliveries ORDER BY seq`)
        expect(statuses.map(({ status }) => status)).toEqual(['delivered', 'dead', 'failed', 'failed'])
      }))
  })
}

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== null)(`the service on ${name}`, () => {
    const inside = async (test: (t: World, log: RecordingLog) => Promise<void>) => {
      const site = await open()
      const log = recordingLog()
      const t = await world({ env: site.env, ports: { log } })
      try {
        await test(t, log)
      } finally {
        await t.close()
        await site.end()
      }
    }

    it('gives no statements when nobody subscribes: no endpoint, another event, another organization, disabled', () =>
      inside(async (t) => {
        expect(t.outbox.statements(SOMETHING)).toEqual([])
        await t.endpoint({ event_types: ['budget.crossed'] })
        await t.endpoint({ enabled: false })
        expect(t.outbox.statements(SOMETHING)).toEqual([])
        await t.endpoint()
        expect(t.outbox.statements(SOMETHING)).not.toEqual([])
        expect(t.outbox.statements({ ...SOMETHING, orgId: 7 })).toEqual([])
        // Off by default: it has to be asked for.
        expect(t.outbox.statements({ ...SOMETHING, type: 'key.created' })).toEqual([])
        await t.endpoint({ event_types: ['key.created'] })
        expect(t.outbox.statements({ ...SOMETHING, type: 'key.created' })).not.toEqual([])
      }))

    it('the caller’s transaction decides: rolled back, nothing is sent', () =>
      inside(async (t) => {
        await t.endpoint()
        const statements = t.outbox.statements(SOMETHING)
        await expect(
          t.plugin.db.tx(async (tx) => {
            for (const { sql: text } of statements) await tx.run(text)
            throw new Error('no')
          }),
        ).rejects.toThrow('no')
        await t.clock.advance(5000)
        expect(t.receiver.arrived).toEqual([])
        await t.plugin.db.atomic(statements)
        // Nobody told the dispatcher: it looks every second.
        await until(async () => {
          await t.clock.advance(100)
          return t.receiver.arrived.length === 1
        })
      }))

    it('an endpoint that is made later gets nothing of what was before', () =>
      inside(async (t) => {
        await t.endpoint({ url: 'http://hooks.example.com/first' })
        await t.outbox.publish(SOMETHING)
        await t.endpoint({ url: 'http://hooks.example.com/second' })
        await t.outbox.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: '8' } })
        const arrived = await t.arrivals(3)
        const told = arrived.map((one) => `${one.path} ${envelopeIn(one).data.account_id}`)
        expect(told.sort()).toEqual(['/first 7', '/first 8', '/second 8'])
      }))

    it('debounces each type by its documented key, separately for each organization', () =>
      inside(async (t) => {
        await t.endpoint()
        const budget = (type: string, key: string) =>
          t.outbox.publish({ type, orgId: null, data: { budget_id: 3, dedup_key: key }, occurredAt: t.clock.now() })
        for (let i = 0; i < 3; i++) {
          await budget('budget.crossed', '3:100')
          await budget('budget.projected_exceeded', '3:100')
          await budget('budget.threshold_crossed', '3:85')
          await budget('budget.threshold_crossed', '3:95')
        }
        await t.arrivals(4)
        t.clock.jump(24 * 3_600_000 - 1)
        await budget('budget.crossed', '3:100')
        t.clock.jump(1)
        await budget('budget.crossed', '3:100')
        await t.arrivals(5)
        await until(async () => (await t.deliveries('&status=delivered')).length === 5)
        expect(t.receiver.arrived).toHaveLength(5)
        await t.outbox.publish({ ...SOMETHING, dedup: { key: 'mine', ttlMs: 1000 } })
        await t.outbox.publish({ ...SOMETHING, dedup: { key: 'mine', ttlMs: 1000 } })
        await until(async () => (await t.deliveries('&status=delivered')).length === 6)
        expect((await t.deliveries()).length).toBe(6)
      }))

    it('debounces from when it happened, not from when it was queued: a day later it is told again', () =>
      inside(async (t) => {
        await t.endpoint()
        const crossed = (occurredAt: number) =>
          t.outbox.publish({ type: 'budget.crossed', orgId: null, data: { dedup_key: '3:100' }, occurredAt })
        await crossed(t.clock.now() - 5)
        t.clock.jump(24 * 3_600_000 - 5)
        await crossed(t.clock.now())
        await t.arrivals(2)
      }))

    it('a storm under one key stops writing when the database has said that it is debounced', () =>
      inside(async (t) => {
        await t.endpoint()
        const storm = { type: 'budget.crossed', orgId: null, data: { dedup_key: '9:100' } }
        await t.outbox.publish(storm)
        await t.clock.advance(250)
        await until(() => t.outbox.statements(storm).length === 0)
        t.clock.jump(24 * 3_600_000)
        expect(t.outbox.statements(storm)).not.toEqual([])
      }))

    it('never rejects: what cannot be queued is logged', () =>
      inside(async (t, log) => {
        await t.endpoint()
        const circle: Record<string, unknown> = {}
        circle.self = circle
        await expect(t.outbox.publish({ ...SOMETHING, data: circle })).resolves.toBeUndefined()
        expect(log.lines).toContainEqual(
          expect.objectContaining({
            level: 'error',
            message: 'webhooks.not_queued',
            fields: expect.objectContaining({ type: SOMETHING.type }),
          }),
        )
      }))
  })
}

// A budget's life on each engine, with two gateways over one database: one for each scope, entity and window, with the same counts.
import { describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { SITES } from '../../support/sites.ts'
import { bearer } from '../keys/support.ts'
import { NOON, org, type Site, site, wallClock } from './support.ts'

for (const [name, why, open] of SITES) {
  describe.skipIf(why !== null)(`budgets on ${name}`, () => {
    it('are made once, count what was spent before, move, grow for a while, and go', async () => {
      const { env, end } = await open()
      const clock = wallClock(NOON - 86_400_000)
      const a = await site({ env, ports: { clock } })
      const b = await site({ env, ports: { clock } })
      try {
        const spent = async (s: Site, id: number, spend_usd: number) =>
          expect.poll(async () => (await s.shown(id)).spend_usd).toBe(spend_usd)
        /** Processes read changed rows every second. */
        const followed = (look: () => Promise<unknown>, value: unknown) => whileTimePasses(clock, look).toBe(value)
        const { id: entity_id, key } = await a.key({ label: 'ci' })
        await followed(() => b.spend({}, bearer(key)), 200)
        clock.jump(24)
        await a.spend({}, bearer(key))
        const rows = async () =>
          (await a.inside.db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ledger_usage WHERE charge_nano > 0`))?.n
        await expect.poll(rows).toBe(2)

        const body = { scope: 'key', entity_id, window: 'daily', hard_limit_usd: 1 }
        const made = await Promise.all([a.api('POST', '/api/budgets', body), b.api('POST', '/api/budgets', body)])
        expect(made.map(({ status }) => status).sort()).toEqual([201, 409])
        const { id, spend_usd } = made.find(({ status }) => status === 201)?.body as { id: number; spend_usd: number }
        expect(spend_usd).toBe(0.001)
        await followed(async () => (await b.api('GET', `/api/budgets/${id}`)).status, 200)
        expect((await b.api('PUT', `/api/budgets/${id}`, { window: 'monthly' })).body.spend_usd).toBe(0.002)
        await a.budget({ ...org, hard_limit_usd: 1 })
        await followed(async () => (await a.shown(id)).window, 'monthly')
        await clock.advance('10s')
        for (const s of [a, b]) expect(await s.spend({}, bearer(key))).toBe(200)
        await spent(a, id, 0.004)
        await spent(b, id, 0.004)

        await b.api('PUT', `/api/budgets/${id}`, { hard_limit_usd: 0.004 })
        await followed(async () => (await a.shown(id)).hard_limit_usd, 0.004)
        expect(await a.spend({}, bearer(key))).toBe(402)
        const expires_at = new Date(clock.now() + 3_600_000).toISOString()
        const more = await b.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 1, expires_at, reason: 'launch' })
        expect(more.body).toMatchObject({ effective_limit_usd: 1.004, increases: [{ reason: 'launch', active: true }] })
        await followed(async () => (await a.shown(id)).effective_limit_usd, 1.004)
        expect(await a.spend({}, bearer(key))).toBe(200)
        await spent(a, id, 0.005)
        clock.jump(1)
        expect(await a.spend({}, bearer(key))).toBe(402)

        expect((await b.api('DELETE', `/api/budgets/${id}`)).status).toBe(200)
        await followed(async () => (await a.api('GET', `/api/budgets/${id}`)).status, 404)
        expect(await a.spend({}, bearer(key))).toBe(200)
        await expect.poll(rows).toBe(6)
        // Its place is free.
        const again = await a.budget({ ...body, window: 'monthly' })
        expect(again.id).not.toBe(id)
        expect(again.spend_usd).toBe(0.006)
      } finally {
        await a.close()
        await b.close()
        await end()
      }
    })

    it('never lose a booking to a count that runs beside it', async () => {
      const { env, end } = await open()
      const a = await site({ env })
      try {
        const { id } = await a.budget({ ...org, hard_limit_usd: 100 })
        const asked = Array.from({ length: 30 }, () => a.spend())
        for (const window of ['weekly', 'daily', 'monthly', 'daily'])
          expect((await a.api('PUT', `/api/budgets/${id}`, { window })).status).toBe(200)
        expect(new Set(await Promise.all(asked))).toEqual(new Set([200]))
        await expect.poll(async () => (await a.shown(id)).spend_usd).toBe(0.03)
        expect((await a.shown(id)).reserved_usd).toBe(0)
      } finally {
        await a.close()
        await end()
      }
    })
  })
}

// Sign-in over restarts and replicas: what ends on one ends on all, and no session outlives its password.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { sql } from '../../../core/db/sql.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { ENGINES, type Store } from '../audit/support.ts'
import {
  auditOf,
  bearer,
  cheapHash,
  type JumpingClock,
  jumpingClock,
  makeToken,
  openGateway,
  PASSWORD,
  sessionOf,
} from './support.ts'

const JWT_SECRET = 'kd83Hs0qLmZ1vTfW7cXpRy2uJbNa6Ge4'
const MASTER_KEY = '9f1c6a0b37d24e58a1b2c3d4e5f60718293a4b5c6d7e8f90a0b1c2d3e4f50617'
const HOUR = 3_600_000

for (const engine of ENGINES) {
  describe.skipIf(engine.skipped)(engine.name, () => {
    let store: Store
    let DASHBOARD_PASSWORD_HASH: string
    beforeAll(async () => {
      store = await engine.make()
      DASHBOARD_PASSWORD_HASH = await cheapHash()
    })
    afterAll(() => store.close())
    const open = (clock: JumpingClock, env: Record<string, string>, ports = {}): Promise<TestGateway> =>
      openGateway({ env: { DATABASE_URL: store.url, MASTER_KEY, ...env }, ports: { clock, ...ports } })
    const status = async (t: TestGateway, token: string) => (await t.fetch('/api/auth/me', { headers: bearer(token) })).status
    const logout = (t: TestGateway, token: string) => t.post('/api/auth/logout', {}, bearer(token))
    /** What the other replica says once it has looked. */
    const follows = (clock: JumpingClock, t: TestGateway, token: string, expected: number) =>
      whileTimePasses(clock, () => status(t, token)).toBe(expected)

    it('a session that was ended is ended on both, stays so, and is forgotten when it would have expired', async () => {
      const clock = jumpingClock()
      const env = { DASHBOARD_PASSWORD_HASH, JWT_SECRET }
      const [one, two] = [await open(clock, env), await open(clock, env)]
      const [token, other] = [await sessionOf(one), await sessionOf(one)]
      expect(await status(two, token)).toBe(200)
      expect(await (await logout(one, token)).json()).toEqual({ signed_out: true })
      expect((await auditOf(one, other))[0]).toMatchObject({ action: 'user.logout', actor: 'local', target: 'local' })
      expect(await status(one, token)).toBe(401)
      expect((await logout(one, token)).status).toBe(401)
      await follows(clock, two, token, 401)
      expect(await status(two, other)).toBe(200)
      const rows = async () => (await one.gateway.db?.all(sql`SELECT jti FROM sign_in_ended`))?.length
      expect(await rows()).toBe(1)
      clock.jump(11 * HOUR)
      expect(await status(one, token)).toBe(401)
      clock.jump(2 * HOUR)
      await clock.advance('70m')
      await expect.poll(rows).toBe(0)
      expect(await status(one, token)).toBe(401)
      await Promise.all([one.close(), two.close()])
    })

    it('a management token made on one works on the other, and is refused there within two seconds of its end', async () => {
      const clock = jumpingClock()
      const env = { DASHBOARD_PASSWORD_HASH, JWT_SECRET }
      const [one, two] = [await open(clock, env), await open(clock, env)]
      const session = await sessionOf(one)
      const { id, token } = await makeToken(one, session, { scope: 'read' })
      await follows(clock, two, token, 200)
      expect((await one.fetch(`/api/tokens/${id}`, { method: 'DELETE', headers: bearer(session) })).status).toBe(200)
      expect(await status(one, token)).toBe(401)
      await follows(clock, two, token, 401)
      await Promise.all([one.close(), two.close()])
    })

    it('no session survives another password, none at all, or tenants', async () => {
      const clock = jumpingClock()
      const before = await open(clock, { JWT_SECRET, DASHBOARD_PASSWORD_HASH })
      const token = await sessionOf(before)
      expect(await status(before, token)).toBe(200)
      await before.close()
      const later: Record<string, string>[] = [
        { DASHBOARD_PASSWORD_HASH: await cheapHash('another') },
        { DASHBOARD_PASSWORD_HASH: await cheapHash(PASSWORD) },
        {},
        { MULTI_TENANT: 'true' },
      ]
      for (const env of later) {
        const after = await open(clock, { JWT_SECRET, ...env })
        expect(await status(after, token), JSON.stringify(Object.keys(env))).toBe(401)
        await after.close()
      }
    })

    it('one of a time without a password is over when one is set, or tenants come', async () => {
      const clock = jumpingClock()
      const before = await open(clock, { JWT_SECRET })
      const { token } = (await (await before.post('/api/login', {})).json()) as { token: string }
      expect(await status(before, token)).toBe(200)
      await before.close()
      for (const env of [{ DASHBOARD_PASSWORD_HASH }, { MULTI_TENANT: 'true' }] as Record<string, string>[]) {
        const after = await open(clock, { JWT_SECRET, ...env })
        expect(await status(after, token)).toBe(401)
        await after.close()
      }
    })

    it('a session survives a restart without a secret of its own: that is derived from the master key, and is not it (C5)', async () => {
      const clock = jumpingClock()
      const before = await open(clock, { DASHBOARD_PASSWORD_HASH })
      const token = await sessionOf(before)
      await before.close()
      const after = await open(clock, { DASHBOARD_PASSWORD_HASH })
      expect(await status(after, token)).toBe(200)
      await after.close()
      const [header, claims, signature] = token.split('.') as [string, string, string]
      for (const key of [Buffer.from(MASTER_KEY, 'hex'), MASTER_KEY])
        expect(createHmac('sha256', key).update(`${header}.${claims}`).digest('base64url')).not.toBe(signature)
    })

    it('failed sign-ins are five over both together', async () => {
      const clock = jumpingClock()
      const counters = memoryCounters(clock)
      const env = { DASHBOARD_PASSWORD_HASH, JWT_SECRET }
      const both = [await open(clock, env, { counters }), await open(clock, env, { counters })] as const
      const tries = Array.from({ length: 20 }, (_, i) => both[(i % 2) as 0 | 1].post('/api/login', { password: 'nope' }))
      const statuses = (await Promise.all(tries)).map((response) => response.status)
      expect(statuses.filter((each) => each === 401)).toHaveLength(5)
      expect((await both[1].post('/api/login', { password: PASSWORD })).status).toBe(429)
      await Promise.all(both.map((t) => t.close()))
    })
  })
}

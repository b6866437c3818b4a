// The places of a key in a request, and which texts count as a key.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { ask, bearer, errorOf, gatewayWithKeys, makeKey } from './support.ts'

const POLICIES = [
  ['keys optional', {}],
  ['keys required', { REQUIRE_API_KEY: 'true' }],
] as const

for (const [policy, env] of POLICIES) {
  describe(policy, () => {
    let t: TestGateway
    let good: string
    let other: string
    let revoked: string
    const required = 'REQUIRE_API_KEY' in env
    beforeAll(async () => {
      t = await gatewayWithKeys({ env })
      good = (await makeKey(t)).key
      other = (await makeKey(t)).key
      const gone = await makeKey(t)
      revoked = gone.key
      await t.fetch(`/api/keys/${gone.id}`, { method: 'DELETE' })
    })
    afterAll(() => t.close())
    const status = async (headers: Record<string, string>, query = '') =>
      (await t.post(`/v1/chat/completions${query}`, ask('chat/m'), headers)).status

    it('takes it as Bearer, x-api-key, api-key, x-goog-api-key or ?key=', async () => {
      expect(await status(bearer(good))).toBe(200)
      expect(await status({ authorization: `bearer   ${good}` })).toBe(200)
      expect(await status({ 'x-api-key': good })).toBe(200)
      expect(await status({ 'api-key': good })).toBe(200)
      expect(await status({ 'x-goog-api-key': good })).toBe(200)
      expect(await status({}, `?key=${good}`)).toBe(200)
      expect(await status({ 'x-api-key': good, 'x-goog-api-key': good }, `?alt=sse&key=${good}`)).toBe(200)
    })

    it('refuses a gw_ key that is unknown, revoked or mistyped, wherever it stands', async () => {
      const mistyped = `${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`
      for (const bad of [revoked, mistyped, 'gw_nonsense', `gw_${'a'.repeat(47)}`]) {
        for (const headers of [bearer(bad), { 'x-api-key': bad }, { 'api-key': bad }, { 'x-goog-api-key': bad }])
          expect(await status(headers), bad).toBe(401)
        expect(await status({}, `?key=${bad}`)).toBe(401)
      }
    })

    it(`treats any other string as anonymous: ${required ? 401 : 200}`, async () => {
      const anonymous = required ? 401 : 200
      for (const dummy of ['sk-dummy', 'x', 'GW_upper', 'Basic abc']) expect(await status(bearer(dummy)), dummy).toBe(anonymous)
      expect(await status({})).toBe(anonymous)
      expect(await status({ authorization: 'Basic Zm9vOmJhcg==' })).toBe(anonymous)
    })

    it('a 401 names its scheme in www-authenticate, in every dialect', async () => {
      for (const [path, body] of [
        ['/v1/chat/completions', ask('chat/m')],
        ['/v1/messages', { ...ask('chat/m'), max_tokens: 5 }],
        ['/v1/responses', { model: 'chat/m', input: 'hi' }],
        ['/v1beta/models/chat/m:generateContent', { contents: [{ parts: [{ text: 'hi' }] }] }],
      ] as const)
        for (const headers of [bearer(revoked), ...(required ? [{}] : [])]) {
          const refused = await t.post(path, body, headers)
          expect([path, refused.status, refused.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer'])
        }
    })

    it('ignores junk beside a valid key, and refuses two different valid ones', async () => {
      expect(await status({ ...bearer('sk-dummy'), 'x-api-key': good })).toBe(200)
      expect(await status({ ...bearer(revoked), 'x-api-key': good })).toBe(200)
      expect(await status({ ...bearer(other), 'x-api-key': good })).toBe(401)
    })

    it('never accepts what the database holds in place of the key', async () => {
      const rows = (await t.gateway.db?.all<{ mac: string; last4: string }>(sql`SELECT mac, last4 FROM keys`)) ?? []
      expect(rows.length).toBeGreaterThan(2)
      for (const { mac, last4 } of rows) {
        expect(mac).toMatch(/^[0-9a-f]{64}$/)
        expect(await status(bearer(`gw_${mac}`))).toBe(401)
        expect(await status(bearer(mac))).toBe(required ? 401 : 200)
        expect([good, other, revoked].some((key) => key.endsWith(last4))).toBe(true)
      }
    })

    it('tells apart two keys that share their first forty characters', async () => {
      const twin = good.slice(0, 40) + good.slice(40).split('').reverse().join('')
      expect(await status(bearer(twin))).toBe(twin === good ? 200 : 401)
    })
  })
}

describe('cost center', () => {
  for (const [trusted, expected] of [
    ['true', 'asked'],
    ['false', 'stored'],
  ] as const) {
    it(`x-gateway-cost-center ${trusted === 'true' ? 'overrides' : 'does not override'} the stored one when trusted=${trusted}`, async () => {
      const t = await gatewayWithKeys({ env: { COST_CENTER_HEADER_TRUSTED: trusted } })
      const { key } = await makeKey(t, { cost_center: 'stored' })
      await t.post('/v1/chat/completions', ask('chat/m'), { ...bearer(key), 'x-gateway-cost-center': 'asked' })
      await t.post('/v1/chat/completions', ask('chat/m'), bearer(key))
      await t.untilSettled(2)
      expect(t.settled.map(({ ctx }) => ctx.costCenter)).toEqual([expected, 'stored'])
      if (trusted === 'true') {
        const tooLong = await t.post('/v1/chat/completions', ask('chat/m'), { 'x-gateway-cost-center': 'x'.repeat(129) })
        expect(await errorOf(tooLong)).toMatchObject({ status: 400, param: 'x-gateway-cost-center' })
      }
      await t.close()
    })
  }
})

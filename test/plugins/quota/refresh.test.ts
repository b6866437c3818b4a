// Queries of vendors' usage APIs.
import { afterEach, describe, expect, it } from 'vitest'
import { raw } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { add, call } from '../connections/support.ts'
import { type Snapshot, type World, world } from './support.ts'

const open: Pick<TestGateway, 'close'>[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})
const started = async (...options: Parameters<typeof world>): Promise<World> => {
  const w = await world(...options)
  open.push(w)
  return w
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a refresh', () => {
  it('asks OpenRouter for what the key may use, with the key and nothing booked', async () => {
    const key = (limit: number | null, remaining: number | null) =>
      raw(200, JSON.stringify({ data: { label: 'sk-or', usage: 75, limit, limit_remaining: remaining, is_free_tier: false } }))
    const t = await started({
      upstream: [
        key(100, 25),
        key(100, 0),
        key(null, null),
        raw(401, '{"error":{"message":"no sk-or-canary-key"}}'),
        raw(200, '<html>'),
      ],
    })
    const { id } = await add(t, { provider: 'openrouter', base_url: t.upstream.baseUrl('chat'), api_key: 'sk-or-canary-key' })
    const refresh = async (body: object = {}) =>
      (await (await call(t, 'POST', '/api/quota/refresh', body)).json()) as {
        data: Snapshot[]
        refreshed: number
        failed: number
      }
    expect(await refresh()).toMatchObject({
      refreshed: 1,
      failed: 0,
      data: [
        {
          plan: 'paid',
          source: 'api',
          exhausted: false,
          windows: [{ name: 'key', unit: 'usd', used: 75, limit: 100, remaining: 25, remaining_pct: 25 }],
        },
      ],
    })
    expect(t.upstream.requests[0]).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer sk-or-canary-key' } })
    expect(t.upstream.requests[0]?.path).toMatch(/\/key$/)
    expect(t.settled).toEqual([])

    // Without a reset time: one hour.
    expect(await refresh({ connection_id: id })).toMatchObject({
      data: [{ exhausted: true, resets_at: new Date(t.clock.now() + 3_600_000).toISOString() }],
    })
    expect((await t.send('openrouter/m')).status).toBe(429)
    await t.clock.advance('61m')
    expect(await refresh()).toMatchObject({ refreshed: 1, data: [{ exhausted: false }] })
    const failed = await refresh()
    expect(failed).toMatchObject({ refreshed: 0, failed: 1, data: [{ source: 'error', error: expect.stringContaining('401') }] })
    expect(JSON.stringify(failed)).not.toContain('canary')
    expect(await refresh()).toMatchObject({ failed: 1, data: [{ error: expect.stringContaining('cannot be understood') }] })
    expect((await call(t, 'POST', '/api/quota/refresh', { connection_id: 999 })).status).toBe(404)
  })

  it('happens by itself every few minutes for accounts in use, at most four at once', async () => {
    let running = 0
    let most = 0
    const asked: string[] = []
    const slow = definePlugin({
      name: 'slow-driver',
      requires: ['quota'],
      setup(gateway) {
        return gateway.use('quota').driver({
          provider: 'acme',
          async read(_get, connection) {
            asked.push(connection.id)
            most = Math.max(most, ++running)
            await turn()
            running--
            return { plan: 'slow', windows: [] }
          },
        })
      },
    })
    const t = await started({ plugins: [slow()] })
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      const made = await add(t, {
        provider: 'acme',
        base_url: t.upstream.baseUrl('chat'),
        wire_format: 'chat',
        api_key: `sk-acme-${i}`,
      })
      ids.push(String(made.id))
    }
    await t.clock.advance('10m')
    expect(asked).toEqual([])
    await t.send('acme/m')
    await t.clock.advance('2m')
    expect(asked).toEqual([ids[0]])
    await t.send('acme/m')
    await t.clock.advance('2m')
    expect(asked).toHaveLength(1)
    await t.clock.advance('4m')
    expect(asked).toHaveLength(2)
    const all = await call(t, 'POST', '/api/quota/refresh', {})
    expect(await all.json()).toMatchObject({ refreshed: 6, failed: 0 })
    expect(most).toBe(4)
  })
})

// Rates: limits of a key, the default for all other callers, and the text of a refusal.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { ask, bearer, errorOf, gatewayWithKeys, makeKey } from '../keys/support.ts'

const chat = '/v1/chat/completions'

describe('requests per minute', () => {
  it('grants exactly the cap to a thousand parallel calls', async () => {
    const t = await gatewayWithKeys({ ports: { clock: fakeClock() } })
    const { key } = await makeKey(t, { rate_limit_rpm: 60 })
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const response = await t.post('/v1/messages/count_tokens', ask('chat/m'), bearer(key))
        await response.arrayBuffer()
        return response.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(940)
    await t.close()
  })

  it('says which cap, and when to come back; then one gets in', async () => {
    const clock = fakeClock()
    const t = await gatewayWithKeys({ ports: { clock } })
    const { key } = await makeKey(t, { rate_limit_rpm: 2 })
    for (let i = 0; i < 2; i++) expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(200)
    const refused = await t.post(chat, ask('chat/m'), bearer(key))
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(1)
    expect(wait).toBeLessThanOrEqual(60)
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(refused.headers.get('x-ratelimit-reset-requests')).toBe(`${wait}s`)
    expect((await errorOf(refused)).message).toContain('2 requests per minute')
    await clock.advance(wait * 1000)
    expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(200)
    await t.close()
  })

  it('counts only what passed the allow-list', async () => {
    const t = await gatewayWithKeys({ ports: { clock: fakeClock() } })
    const { key } = await makeKey(t, { rate_limit_rpm: 1, allowed_models: ['chat/m'] })
    for (let i = 0; i < 5; i++) expect((await t.post(chat, ask('chat/other'), bearer(key))).status).toBe(403)
    expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(200)
    expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(429)
    await t.close()
  })
})

describe('GATEWAY_RATE_LIMIT_RPM', () => {
  it('is a bucket of GATEWAY_RATE_LIMIT_BURST for keys without a cap of their own and for each anonymous address', async () => {
    const clock = fakeClock()
    const t = await gatewayWithKeys({ env: { RATE_LIMIT_RPM: '60', RATE_LIMIT_BURST: '3' }, ports: { clock } })
    const plain = (await makeKey(t)).key
    const own = (await makeKey(t, { rate_limit_rpm: 5 })).key
    const granted = async (headers: Record<string, string>) => {
      let count = 0
      while ((await t.post(chat, ask('chat/m'), headers)).status === 200) count++
      return count
    }
    expect(await granted({})).toBe(3)
    expect(await granted(bearer(plain))).toBe(3)
    expect(await granted(bearer(own))).toBe(5)
    await clock.advance(1000)
    expect(await granted({})).toBe(1)
    expect(await granted(bearer(plain))).toBe(1)
    await t.close()
  })
})

describe('tokens per minute', () => {
  it('lets a request larger than the cap into an empty window, then waits for it to leave', async () => {
    const clock = fakeClock()
    const t = await gatewayWithKeys({ ports: { clock } })
    const { key } = await makeKey(t, { rate_limit_tpm: 10 })
    expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(200)
    await t.untilSettled(1)
    const used = t.settled[0]?.outcome.usage.total ?? 0
    expect(used).toBeGreaterThan(10)
    const refused = await t.post(chat, ask('chat/m'), bearer(key))
    expect(refused.status).toBe(429)
    await clock.advance(Number(refused.headers.get('retry-after')) * 1000)
    expect((await t.post(chat, ask('chat/m'), bearer(key))).status).toBe(200)
    await t.close()
  })
})

describe('the use of limits', () => {
  it('says what a key used of its minute, and takes nothing', async () => {
    const clock = fakeClock()
    const t = await gatewayWithKeys({ ports: { clock } })
    const limited = await makeKey(t, { label: 'limited', rate_limit_rpm: 10, rate_limit_tpm: 1000 })
    const free = await makeKey(t, { label: 'free' })
    for (let i = 0; i < 3; i++) await (await t.post(chat, ask('chat/m'), bearer(limited.key))).text()
    await t.untilSettled(3)
    const use = async (ids: string) =>
      ((await (await t.fetch(`/api/rate-limits?key_id=${ids}`)).json()) as { data: { tokens_per_minute: { used: number } }[] })
        .data
    for (let i = 0; i < 2; i++) {
      const found = await use(`${limited.id},${free.id},4711`)
      expect(found).toMatchObject([
        { key_id: limited.id, requests_per_minute: { limit: 10, used: 3 }, tokens_per_minute: { limit: 1000 } },
        { key_id: free.id, requests_per_minute: null, tokens_per_minute: null },
      ])
      expect(found[0]?.tokens_per_minute.used).toBeGreaterThan(0)
    }
    await clock.advance(121_000)
    expect(await use(String(limited.id))).toMatchObject([{ requests_per_minute: { used: 0 }, tokens_per_minute: { used: 0 } }])
    for (const wrong of ['', '?key_id=', '?key_id=x', `?key_id=${Array.from({ length: 201 }, (_, i) => i + 1).join(',')}`])
      expect(await errorOf(await t.fetch(`/api/rate-limits${wrong}`))).toMatchObject({ status: 400, param: 'key_id' })
    await t.close()
  })
})

// The cache and the ledger: a hit costs nothing, is marked as a hit, counts against rates, and comes after the budget check and before
// the reservation.
import { afterEach, expect, it } from 'vitest'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Outcome } from '../../../core/types/request/context.ts'
import type { UsageRow } from '../../../plugins/ledger/service.ts'
import { org, type Site, site, used } from '../budgets/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { HOUR } from './support.ts'

let s: Site
afterEach(() => s.close())

const rowsOf = async (): Promise<UsageRow[]> => {
  for (let turn = 0; turn < 25; turn++) await new Promise((resolve) => setImmediate(resolve))
  const rows: UsageRow[] = []
  await s.ledger.usage.newest({ since: 0, until: Number.MAX_SAFE_INTEGER }, 100, (row) => void rows.push(row))
  return rows.sort((a, b) => (a.requestId < b.requestId ? -1 : 1))
}

it('a hit is a row of its own: tokens as they were stored, cost 0, source `cache`', async () => {
  s = await site({ env: HOUR, upstream: [used(20, 100)] })
  await s.spend()
  await s.spend()
  const [miss, hit] = await rowsOf()
  expect(miss).toMatchObject({ source: 'api', cached: null, costNano: 20 * 1000 + 100 * 10_000, chargeNano: 1_020_000 })
  expect(hit).toMatchObject({
    source: 'cache',
    cached: 'exact',
    provider: 'chat',
    model: 'm',
    connectionId: null,
    costNano: 0,
    chargeNano: 0,
    tokens: { input: 20, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  })
  expect(hit?.requestId).not.toBe(miss?.requestId)
})

it('whoever keeps savings learns at settlement what the call had cost', async () => {
  const outcomes: Outcome[] = []
  const savings = definePlugin({
    name: 'test-savings',
    setup: (gateway) => gateway.hook('settle', (_ctx, outcome) => void outcomes.push(outcome)),
  })
  s = await site({ env: HOUR, upstream: [used(20, 100)], plugins: [savings()] })
  await s.spend()
  await s.spend()
  expect(outcomes[0]?.cachedCall).toBeUndefined()
  expect(outcomes[1]?.cachedCall).toEqual({
    requestId: s.t.settled[0]?.ctx.id,
    at: s.clock.now(),
    provider: 'chat',
    model: 'm',
    costNano: 1_020_000,
    chargeNano: 1_020_000,
    priceRef: 'test',
    usage: expect.objectContaining({ inputTotal: 20, outputTotal: 100 }),
  })
})

it('a budget that is used up refuses a request that the cache could answer', async () => {
  s = await site({ env: HOUR, upstream: [used(0, 100)] })
  await s.budget({ ...org, hard_limit_usd: 0.001 })
  // 100 tokens at 10,000 nano-USD: the whole budget.
  expect(await s.spend({ max_tokens: 10 })).toBe(200)
  expect(await s.spend({ max_tokens: 10 })).toBe(402)
  expect(s.t.upstream.requests).toHaveLength(1)
})

it('a hit keeps nothing back: it is answered where no reservation would fit any more', async () => {
  s = await site({ env: HOUR, upstream: [used(0, 60)] })
  const { id } = await s.budget({ ...org, hard_limit_usd: 0.001 })
  expect(await s.spend({ max_tokens: 60 })).toBe(200)
  expect(await s.spend({ max_tokens: 60, user: 'other' })).toBe(402)
  expect(await s.spend({ max_tokens: 60 })).toBe(200)
  expect(await s.shown(id)).toMatchObject({ spend_usd: 0.0006, reserved_usd: 0 })
})

it('a hit counts against requests per minute, not against tokens', async () => {
  s = await site({ env: HOUR, upstream: [used(10, 40)] })
  const rpm = await makeKey(s.t, { rate_limit_rpm: 2 })
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push(await s.spend({}, bearer(rpm.key)))
  expect(statuses).toEqual([200, 200, 429])
  const tpm = await makeKey(s.t, { rate_limit_tpm: 60 })
  for (let i = 0; i < 4; i++) expect(await s.spend({}, bearer(tpm.key))).toBe(200)
  expect(await s.spend({ user: 'other' }, bearer(tpm.key))).toBe(200)
  expect(await s.spend({ user: 'third' }, bearer(tpm.key))).toBe(429)
})

// Shadow evaluation of an organization with prices of its own: they choose the challenger, and they are reserved under the day's cap.
import { afterEach, expect, it } from 'vitest'
import { choose, reply } from '../../../adapters/testing/script.ts'
import { type PoolSite, poolSite } from '../free-pool/support.ts'
import type { Sample } from './support.ts'

const ORG = 7
const USAGE = { input: 100, output: 20 }
const LISTED = [
  { model: '*/dear', input: 10, output: 40 },
  { model: '*/middle', input: 2, output: 8 },
  { model: '*/cheap', input: 0.01, output: 0.04 },
]
/** Of one replay on `cheap` at these prices: 100 × 5 + 20 × 20 micro-USD. */
const OWN = [{ model: '*/cheap', input: 5, output: 20 }]
const REPLAY = 900_000

let s: PoolSite
afterEach(() => s?.t.close())

interface Shadow {
  today: { spent_usd: number; reserved_usd: number; stopped_until: string | null } | null
  data: Sample[]
}
const shadow = (org: number) => s.api<Shadow>(org, '/api/shadow')

async function site(targets: readonly string[], own: readonly object[], capUsd: number): Promise<void> {
  s = await poolSite({
    shared: [],
    upstream: [choose(() => reply({ text: 'Yes.', usage: USAGE }))],
    env: { SHADOW_EVAL_ENABLED: 'true', SHADOW_SAMPLE_RATE: '1', SHADOW_DAILY_USD_BUDGET: String(capUsd) },
  })
  const connection = { provider: 'custom', base_url: s.t.upstream.baseUrl('chat'), wire_format: 'chat', api_key: 'sk-own' }
  await s.api(ORG, '/api/providers', { method: 'POST', body: { ...connection, label: 'own' } })
  await s.api(0, '/api/pricing/overrides', { method: 'PUT', body: { data: LISTED } })
  await s.api(ORG, '/api/pricing/overrides', { method: 'PUT', body: { data: own } })
  const body = { name: 'work', strategy: 'failover', targets: targets.map((model) => ({ provider: 'custom', model })) }
  expect(await s.api(ORG, '/api/virtual-models', { method: 'POST', body })).toMatchObject({ name: 'work' })
}

async function until(fits: (found: Shadow, all: Shadow) => boolean): Promise<Shadow> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await shadow(ORG)
    if (fits(found, await shadow(0))) return found
    await s.clock.advance('4s')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error(`Not reached: ${JSON.stringify(await shadow(ORG))}`)
}

it('takes the model that is cheapest for the organization', async () => {
  await site(['dear', 'middle', 'cheap'], OWN, 5)
  expect(await s.use(ORG, { model: 'work' })).toBe(200)
  const { data } = await until((found) => found.data.length > 0)
  expect(data[0]?.challenger).toBe('custom/middle')
})

it('never passes the day’s cap, to the nano, when the organization pays more than the list', async () => {
  // Two replays fit as booked. A third would be admitted by the list, where it costs next to nothing.
  await site(['dear', 'cheap'], OWN, (2.5 * REPLAY) / 1e9)
  for (let count = 0; count < 5; count++) expect(await s.use(ORG, { model: 'work', max_tokens: 20 })).toBe(200)
  await until((found) => found.data.length === 5)
  await until((_found, { today }) => today?.stopped_until !== null)
  const { today } = await shadow(0)
  const { data } = await shadow(ORG)
  const scored = data.filter(({ state }) => state === 'scored')
  expect(scored.length).toBeGreaterThan(0)
  expect(scored.map((one) => one.challenger_cost_usd)).toEqual(scored.map(() => REPLAY / 1e9))
  expect(Math.round((today?.spent_usd ?? 0) * 1e9)).toBe(scored.length * REPLAY)
  expect(Math.round((today?.spent_usd ?? 0) * 1e9)).toBeLessThanOrEqual(2.5 * REPLAY)
  expect(today?.reserved_usd).toBe(0)
})

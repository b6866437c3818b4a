// An operation may take several calls of the vendor. When a later one fails, the earlier ones were charged: every failure at every call.
import { afterEach, expect, it } from 'vitest'
import { reset, type Step } from '../../adapters/testing/index.ts'
import { operationReply } from '../../adapters/testing/operations/vendor.ts'
import type { RecordedRequest } from '../../adapters/testing/script.ts'
import { sql } from '../../core/db/sql.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const PRICES = [
  { model: 'cohere/e', input: 131 },
  { model: 'mistral/codestral-latest', input: 1009, output: 2003 },
  { model: 'google/gemini-2.5-flash-image', per_image_usd: 0.039007 },
  { model: 'stability/core', per_image_usd: 0.030011 },
  { model: 'black-forest-labs/flux-pro', per_image_usd: 0.050021 },
]
const CALLS = 3
const image = (model: string) => ({ path: '/v1/images/generations', body: { model, prompt: 'a cat', n: CALLS } })
const texts = Array.from({ length: 96 * CALLS }, () => 'text')

/** `paid`: whether an answered call is one that the vendor charges. `nano`: the charge for one. */
const OPERATIONS = {
  'embeddings of Cohere': {
    ...{ path: '/v1/embeddings', body: { model: 'cohere/e', input: texts }, provider: 'cohere' },
    ...{ paid: /\/v2\/embed$/, nano: 96 * 4 * 131_000 },
  },
  'completions of Mistral': {
    ...{ path: '/v1/completions', body: { model: 'mistral/codestral-latest', prompt: ['a', 'b', 'c'] }, provider: 'mistral' },
    ...{ paid: /\/fim\/completions$/, nano: 7 * 1_009_000 + 3 * 2_003_000 },
  },
  'images of Gemini': {
    ...image('google/gemini-2.5-flash-image'),
    ...{ provider: 'google', paid: /:generateContent$/, nano: 39_007_000 },
  },
  'images of Stability': { ...image('stability/core'), provider: 'stability', paid: /\/generate\/core$/, nano: 30_011_000 },
  'images of BFL': {
    ...image('black-forest-labs/flux-pro'),
    provider: 'black-forest-labs',
    paid: /get_result/,
    nano: 50_021_000,
  },
} as const

const FAILURES: Record<string, Step> = {
  'status 400': { kind: 'fail', status: 400, message: 'no' },
  'status 500': { kind: 'fail', status: 500, message: 'no' },
  'a reset': reset(),
  'an answer without its parts': { kind: 'raw', status: 200, body: '{}' },
}

/** Fails the call number `at` of those that are charged, and every later one. */
function failing(at: number, paid: RegExp, failure: Step): { step: Step; charged: () => number } {
  let charged = 0
  const choose = (request: RecordedRequest): Step => {
    if (!paid.test(request.path)) return operationReply(request)
    if (charged === at) return failure
    charged++
    return operationReply(request)
  }
  return { step: { kind: 'choose', choose }, charged: () => charged }
}

async function start(providers: readonly string[], step: Step): Promise<void> {
  v = await vendors(providers, { upstream: [step], env: { PRICING_SYNC_ENABLED: 'false' } })
  const headers = { 'content-type': 'application/json' }
  const set = { method: 'PUT', headers, body: JSON.stringify({ data: PRICES }) }
  expect((await v.t.fetch('/api/pricing/overrides', set)).status).toBe(200)
}

interface Row {
  provider: string
  cost_nano: number
  status: number
}
const rows = async (): Promise<Row[]> => {
  await v.t.untilCommitted(1)
  return (await v.t.gateway.db?.all<Row>(
    sql`SELECT provider, COALESCE(cost_nano, 0) AS cost_nano, status FROM ledger_usage ORDER BY step`,
  )) as Row[]
}

for (const [operation, { path, body, provider, paid, nano }] of Object.entries(OPERATIONS))
  for (const [failure, step] of Object.entries(FAILURES))
    it.each([0, 1, 2])(`${operation}: ${failure} after %i charged calls`, async (at) => {
      const script = failing(at, paid, step)
      await start([provider], script.step)
      const response = await v.t.post(path, body)
      await response.arrayBuffer()
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(script.charged()).toBe(at)
      const found = await rows()
      expect(found).toMatchObject([{ provider, cost_nano: at * nano, status: response.status }])
    })

it('each vendor that was asked has a row with its own charge when another one answers', async () => {
  const script = failing(2, /\/generate\/core$/, FAILURES['status 500'] as Step)
  await start(['stability', 'google'], script.step)
  const targets = ['stability/core', 'google/gemini-2.5-flash-image']
  const made = await v.t.post('/api/virtual-models', { name: 'cats', strategy: 'failover', targets, modality: 'image' })
  expect(made.status).toBeLessThan(300)
  const response = await v.t.post('/v1/images/generations', { model: 'cats', prompt: 'a cat', n: CALLS })
  expect(response.status, await response.text()).toBe(200)
  expect(await rows()).toMatchObject([
    { provider: 'stability', cost_nano: 2 * 30_011_000 },
    { provider: 'google', cost_nano: CALLS * 39_007_000 },
  ])
})

it('a caller who leaves pays for the calls that were answered', async () => {
  const script = failing(2, /\/v2\/embed$/, { kind: 'hang' })
  await start(['cohere'], script.step)
  const { url } = await v.t.listen()
  const leave = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const asked = fetch(`${url}/v1/embeddings`, {
    ...{ method: 'POST', headers, signal: leave.signal },
    body: JSON.stringify({ model: 'cohere/e', input: texts }),
  })
  while (v.vendor.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  leave.abort()
  await expect(asked).rejects.toThrow()
  expect(await rows()).toMatchObject([{ provider: 'cohere', cost_nano: 2 * 96 * 4 * 131_000, status: 499 }])
})

// Billed calls outside the pipeline: sent with a connection's credential, settled like an internal call under their source.
import { afterEach, expect, it } from 'vitest'
import { raw } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { noUsage } from '../../core/models/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { DirectCalls } from '../../core/services.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { preset } from '../../plugins/preset.ts'

let t: TestGateway
let calls: DirectCalls
let connection: Connection
afterEach(() => t.close())

async function start(): Promise<void> {
  const taker = definePlugin({
    name: 'taker',
    requires: ['directCalls', 'accounts'],
    setup(gateway) {
      calls = gateway.use('directCalls')
      const accounts = gateway.use('accounts')
      gateway.hook('ready', () => {
        connection = accounts.list().find(({ connection: { id } }) => id !== '')?.connection as Connection
      })
    },
  })
  const prices = definePlugin({
    name: 'test-prices',
    setup: (gateway) =>
      gateway.provide('prices', {
        price: ({ usage, operation, model }) => ({
          costNano: usage.inputTotal * 3,
          chargeNano: usage.inputTotal * 4,
          ref: `${operation} ${model}`,
        }),
      }),
  })
  t = await createTestGateway({
    config: { plugins: [prices(), ...preset()] },
    plugins: [taker()],
    upstream: [raw(200, '{"data":[]}'), raw(429, '{"error":{"message":"slow down"}}')],
  })
}

it('post JSON with the credential of the connection, and a status is an answer', async () => {
  await start()
  const answer = await calls.post(connection, '/embeddings', { model: 'e', input: ['é'] }, 30_000)
  expect([answer.status, new TextDecoder().decode(answer.body)]).toEqual([200, '{"data":[]}'])
  const [request] = t.upstream.requests
  expect(request).toMatchObject({
    method: 'POST',
    json: { model: 'e', input: ['é'] },
    headers: { 'content-type': 'application/json' },
  })
  expect(JSON.stringify(request?.headers)).toContain('sk-upstream')
  expect(request?.path).toMatch(/\/embeddings$/)
  expect((await calls.post(connection, '/embeddings', {}, 30_000)).status).toBe(429)
  expect(t.settled).toEqual([])
})

it('book: one settled request of its own, priced, with the organization and no key', async () => {
  await start()
  const usage = { ...noUsage(), inputTotal: 5, total: 5 }
  const bill = {
    connection,
    model: 'e',
    operation: 'embeddings',
    source: 'cache_embedding',
    orgId: 7,
    usage,
    status: 200,
  } as const
  calls.book({ ...bill, startedAt: Date.now() - 40 })
  await t.untilSettled(1)
  const [{ ctx, outcome } = { ctx: null, outcome: null }] = t.settled
  expect(ctx).toMatchObject({ operation: 'embeddings', source: 'cache_embedding', ingress: null, virtualModel: null })
  expect(ctx?.principal).toEqual({ keyId: null, label: null, orgId: 7, allowedModels: null })
  expect(outcome).toMatchObject({
    status: 200,
    cached: false,
    costNano: 15,
    chargeNano: 20,
    usage: { inputTotal: 5, outputTotal: 0 },
    steps: [{ index: 0, provider: connection.provider, model: 'e', priceRef: 'embeddings e', source: 'cache_embedding' }],
  })
  expect(outcome?.latencyMs).toBeGreaterThanOrEqual(40)
})

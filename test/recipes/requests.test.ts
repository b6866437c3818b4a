// Recipes that refuse, change or redirect requests, through a gateway and its upstream.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTestGateway, fail, fakeClock, text } from '../../adapters/testing/index.ts'
import { abSplit } from '../../examples/recipes/ab-split.ts'
import { blockPreviews } from '../../examples/recipes/block-previews.ts'
import { dailyQuota } from '../../examples/recipes/daily-quota.ts'
import { euOnly } from '../../examples/recipes/eu-only.ts'
import { guardrailService } from '../../examples/recipes/guardrail-service.ts'
import { houseStyle } from '../../examples/recipes/house-style.ts'
import { parallelLimit } from '../../examples/recipes/parallel-limit.ts'
import { retryOnce } from '../../examples/recipes/retry-once.ts'
import { routeByHeader } from '../../examples/recipes/route-by-header.ts'
import { signedProvider } from '../../examples/recipes/signed-provider.ts'
import { teamModel } from '../../examples/recipes/team-model.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { chat, errorOf, receiver, textOf, withRecipe } from './support.ts'

const PATH = '/v1/chat/completions'

describe('route-by-header', () => {
  it('uses the model of the header, and the requested model without it', async () => {
    const t = await withRecipe(routeByHeader({ models: { premium: 'messages/large' } }))
    await textOf(await t.post(PATH, chat(), { 'x-tier': 'premium' }))
    await textOf(await t.post(PATH, chat()))
    expect(t.upstream.requests.map(({ dialect, json }) => [dialect, json.model])).toEqual([
      ['messages', 'large'],
      ['chat', 'm'],
    ])
  })
})

describe('team-model', () => {
  it('resolves one name by the label of the key', async () => {
    const t = await withRecipe(teamModel({ teams: { red: { provider: 'chat', model: 'small' } } }))
    const red = await makeKey(t, { label: 'red' })
    const blue = await makeKey(t, { label: 'blue' })
    await textOf(await t.post(PATH, chat('team/default'), bearer(red.key)))
    expect(t.upstream.requests[0]?.json.model).toBe('small')
    expect(await errorOf(await t.post(PATH, chat('team/default'), bearer(blue.key)))).toMatchObject({
      status: 400,
      param: 'model',
      message: '`team/default` is not set for the key `blue`.',
    })
  })
})

describe('block-previews', () => {
  it('refuses preview models before an upstream call', async () => {
    const t = await withRecipe(blockPreviews({}))
    expect(await errorOf(await t.post(PATH, chat('chat/big-preview')))).toMatchObject({ status: 403 })
    expect(t.upstream.requests).toHaveLength(0)
    await textOf(await t.post(PATH, chat('chat/big')))
  })
})

describe('house-style', () => {
  it.each([false, true])('adds its system prompt behind the caller’s, stream: %s', async (stream) => {
    const t = await withRecipe(houseStyle({ text: 'Answer in one sentence.' }))
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
    ]
    await textOf(await t.post(PATH, { ...chat('messages/m', { stream }), messages }))
    expect(JSON.stringify(t.upstream.requests[0]?.json.system)).toMatch(/Be kind\..*Answer in one sentence\./)
  })
})

describe('guardrail-service', () => {
  it('refuses what the service forbids, and everything while it does not answer', async () => {
    const service = await receiver({ allowed: true })
    const t = await withRecipe(guardrailService({ url: service.url }))
    await textOf(await t.post(PATH, chat()))
    expect(service.bodies[0]).toMatchObject({ text: 'Hello' })
    service.answer = { allowed: false, rule: 'weapons' }
    const refused = await errorOf(await t.post(PATH, chat()))
    expect(refused.status).toBe(400)
    expect(refused.message).toContain('weapons')
    service.answer = undefined
    expect(await errorOf(await t.post(PATH, chat()))).toMatchObject({ status: 503 })
    expect(t.upstream.requests).toHaveLength(1)
  })
})

describe('retry-once', () => {
  it('calls the same account again after a 503, and gives a second 503 to the caller', async () => {
    const t = await withRecipe(retryOnce({ pauseMs: 1 }), { upstream: [fail(503), text('Done.'), fail(503), fail(503)] })
    expect(await textOf(await t.post(PATH, chat()))).toBe('Done.')
    expect((await t.post(PATH, chat())).status).toBe(503)
    expect(t.upstream.requests).toHaveLength(4)
  })
})

describe('parallel-limit', () => {
  it('refuses the request above the limit, and accepts one when another has ended', async () => {
    const t = await withRecipe(parallelLimit({ perKey: 1 }), { upstream: [text('Slow.', { delayMs: 300 })] })
    const first = t.post(PATH, chat())
    await expect.poll(() => t.upstream.requests.length).toBe(1)
    expect(await errorOf(await t.post(PATH, chat()))).toMatchObject({ status: 429 })
    expect(await textOf(await first)).toBe('Slow.')
    await t.untilSettled(2)
    expect(await textOf(await t.post(PATH, chat()))).toBe('Slow.')
  })
})

describe('ab-split', () => {
  it('keeps a user on one side, and sends about the share to side b', async () => {
    const sides = { a: { provider: 'chat', model: 'a' }, b: { provider: 'chat', model: 'b' } }
    const t = await withRecipe(abSplit({ name: 'assistant', ...sides, shareOfB: 0.25 }))
    const sideOf = async (user: string) => {
      await textOf(await t.post(PATH, chat('assistant'), { 'x-gateway-user-id': user }))
      return t.upstream.requests.at(-1)?.json.model
    }
    const sidesOf: unknown[] = []
    for (let user = 0; user < 100; user++) sidesOf.push(await sideOf(`user-${user}`))
    expect(await sideOf('user-7')).toBe(sidesOf[7])
    const share = sidesOf.filter((side) => side === 'b').length
    expect(share).toBeGreaterThan(10)
    expect(share).toBeLessThan(40)
  })
})

describe('daily-quota', () => {
  it('refuses a user whose tokens of the day are used up, and nobody else', async () => {
    const clock = fakeClock()
    const t = await withRecipe(dailyQuota({ tokens: 5 }), { ports: { clock } })
    const as = (user: string) => t.post(PATH, chat(), { 'x-gateway-user-id': user })
    expect((await as('ann')).status).toBe(200)
    await t.untilSettled(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await errorOf(await as('ann'))).toMatchObject({ status: 429 })
    expect((await as('bob')).status).toBe(200)
    expect(await errorOf(await t.post(PATH, chat()))).toMatchObject({ status: 400, param: 'x-gateway-user-id' })
  })
})

describe('eu-only', () => {
  it('skips other providers, and refuses a model without one in the EU', async () => {
    const t = await withRecipe(euOnly({ providers: ['messages'] }))
    const eu = { 'x-data-region': 'eu' }
    await textOf(await t.post(PATH, chat('messages/m'), eu))
    expect(await errorOf(await t.post(PATH, chat('chat/m'), eu))).toMatchObject({ status: 403 })
    await textOf(await t.post(PATH, chat('chat/m')))
  })
})

describe('signed-provider', () => {
  it('signs the body that the upstream receives', async () => {
    const upstream = await createTestGateway()
    const t = await createTestGateway({
      config: {
        providers: [signedProvider(upstream.upstream.baseUrl('chat'), () => 1_700_000_000_000)],
        connections: { internal: { provider: 'internal', apiKey: 'id-1:secret' } },
      },
    })
    await textOf(await t.post(PATH, chat('internal/m')))
    const sent = upstream.upstream.requests[0]
    const expected = createHmac('sha256', 'secret').update(`1700000000.${sent?.text}`).digest('hex')
    expect(sent?.headers).toMatchObject({ 'x-key-id': 'id-1', 'x-time': '1700000000', 'x-signature': expected })
    await t.close()
    await upstream.close()
  })
})

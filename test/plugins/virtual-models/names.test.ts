// Which name means what, and where.
import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelFacts } from '../../../plugins/catalog/service.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { contentOf, refusalOf, type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}

/** Answers operations besides chat without an upstream. */
const routes = definePlugin({
  name: 'other-answers',
  setup(gateway) {
    const answer = { kind: 'raw' as const, status: 200, headers: [], body: new TextEncoder().encode('{}') }
    gateway.hook('answer', (ctx) => (ctx.operation === 'chat' ? undefined : answer))
  },
})

const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const MESSAGES = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
const calls: [string, (model: string) => [string, object], 'text' | 'image' | 'concrete'][] = [
  ['chat completions', (model) => ['/v1/chat/completions', { model, ...MESSAGES }], 'text'],
  ['messages', (model) => ['/v1/messages', { model, ...MESSAGES }], 'text'],
  ['responses', (model) => ['/v1/responses', { model, input: 'hi' }], 'text'],
  ['count_tokens', (model) => ['/v1/messages/count_tokens', { model, messages: MESSAGES.messages }], 'concrete'],
  ['generateContent', (model) => [`/v1beta/models/${model}:generateContent`, CONTENTS], 'concrete'],
  ['embeddings', (model) => ['/v1/embeddings', { model, input: 'hi' }], 'concrete'],
  ['images', (model) => ['/v1/images/generations', { model, prompt: 'hi' }], 'image'],
]

describe('the kind of a route', () => {
  it.each(calls)('%s', async (_name, call, kind) => {
    await start('a', { plugins: [routes()] })
    await s.make({ name: 'words', strategy: 'failover', targets: ['a/m'] })
    await s.make({ name: 'pictures', strategy: 'failover', targets: ['a/m'], modality: 'image' })
    const send = async (model: string) => s.t.post(...call(model))
    for (const [model, modality] of [
      ['words', 'text'],
      ['pictures', 'image'],
    ] as const) {
      const response = await send(model)
      if (modality === kind) {
        expect(response.status, model).toBe(200)
        continue
      }
      const refused = await refusalOf(response)
      expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error', code: null, param: 'model' })
      expect(refused.message).toContain(kind === 'text' ? '/v1/images' : 'concrete `provider/model` id is required')
    }
    expect(s.calls('a')).toBe(kind === 'text' ? 1 : 0)
  })
})

describe('VIRTUAL_MODELS_ONLY', () => {
  const strict = (more: SiteOptions = {}): SiteOptions => ({
    plugins: [routes()],
    env: { VIRTUAL_MODELS_ONLY: 'true', ROUTES: '[{"name":"cheap","candidates":["a/m"]}]' },
    connections: { echo: { provider: 'echo' } },
    ...more,
  })

  it('refuses concrete ids on every route that takes a model, and no other', async () => {
    await start('a', strict())
    await s.make({ name: 'words', strategy: 'failover', targets: ['a/m'] })
    await s.make({ name: 'pictures', strategy: 'failover', targets: ['a/m'], modality: 'image' })
    for (const [, call] of calls)
      for (const model of ['a/m', 'echo-1'])
        expect(await refusalOf(await s.t.post(...call(model)))).toMatchObject({ status: 400, param: 'model', code: null })
    expect(s.calls('a')).toBe(0)
    for (const name of ['words', 'cheap']) expect((await s.ask(name)).status).toBe(200)
    expect((await s.t.post('/v1/images/generations', { model: 'pictures', prompt: 'hi' })).status).toBe(200)
    expect(await refusalOf(await s.t.post('/v1/web/fetch', { url: 'http://127.0.0.1/' }))).toMatchObject({ param: 'url' })
  })

  it('lists virtual names only', async () => {
    await start('a', strict())
    await s.make({ name: 'words', strategy: 'failover', targets: ['a/m'] })
    await s.make({ name: 'off', strategy: 'failover', targets: ['a/m'], enabled: false })
    const headers = bearer((await makeKey(s.t)).key)
    const { data } = await s.json<{ data: { id: string; owned_by: string }[] }>('/v1/models', { headers })
    expect(new Set(data.map((model) => model.owned_by))).toEqual(new Set(['virtual']))
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['words', 'cheap']))
    expect(data.map(({ id }) => id)).not.toContain('off')
    expect((await s.t.fetch('/v1/models/echo%2Fecho-1', { headers })).status).toBe(404)
  })

  it('comes after 403 and before 429', async () => {
    await start('a', strict())
    const { key } = await makeKey(s.t, { allowed_models: ['b/*'], rate_limit_rpm: 1 })
    expect((await s.ask('a/m', {}, bearer(key))).status).toBe(403)
    for (let i = 0; i < 3; i++) expect((await s.ask('b/m', {}, bearer(key))).status).toBe(400)
  })
})

describe('GATEWAY_ROUTES', () => {
  const facts = definePlugin({
    name: 'facts',
    requires: ['modelFacts'],
    setup(gateway) {
      const prices: Record<string, Partial<ModelFacts>> = {
        b: { price: { input: 5e9, output: 5e9 } },
        c: { price: { input: 1e9, output: 2e9 } },
      }
      return gateway.use('modelFacts').layer((provider) => prices[provider] ?? null)
    },
  })

  it('asks the cheapest first, then those without a price as listed; or as listed when told so', async () => {
    const ROUTES = JSON.stringify([
      { name: 'cheap', candidates: ['d/m', 'b/m', 'a/m', 'c/m'] },
      { name: 'as-listed', models: ['b/m', { provider: 'c', model: 'm' }], keep_order: true },
    ])
    await start('abcd', { env: { ROUTES }, plugins: [facts()], script: { c: [{ kind: 'fail', status: 500, message: 'x' }] } })
    expect(contentOf(await (await s.ask('as-listed')).json())).toBe('b')
    const response = await s.ask('cheap')
    expect(contentOf(await response.json())).toBe('b')
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    const listed = await s.json<{ data: { name: string }[] }>('/api/routes')
    expect(listed.data.filter(({ name }) => name !== 'auto')).toEqual([
      {
        name: 'cheap',
        kind: 'route',
        ordering: 'cheapest',
        modality: 'text',
        shadowed: false,
        targets: ['d/m', 'b/m', 'a/m', 'c/m'],
      },
      { name: 'as-listed', kind: 'route', ordering: 'listed', modality: 'text', shadowed: false, targets: ['b/m', 'c/m'] },
    ])
    await s.t.untilSettled(2)
    const plan = s.t.settled[1]?.ctx.plan?.targets.map(({ provider }) => provider)
    expect(plan).toEqual(['d', 'b', 'a', 'c'])
  })

  it('loses to a row of the same name, and obeys allow-lists by name', async () => {
    await start('ab', { env: { ROUTES: '[{"name":"n","candidates":["a/m"]}]' } })
    expect(contentOf(await (await s.ask('n')).json())).toBe('a')
    const { key } = await makeKey(s.t, { allowed_models: ['a/m'] })
    expect((await s.ask('n', {}, bearer(key))).status).toBe(403)
    await s.make({ name: 'n', strategy: 'failover', targets: ['b/m'] })
    expect(await s.json('/api/routes')).toMatchObject({
      data: [
        { name: 'n', shadowed: true },
        { name: 'auto', kind: 'auto', shadowed: false },
      ],
    })
    expect(contentOf(await (await s.ask('n')).json())).toBe('b')
    const listed = await s.json<{ data: { id: string; targets?: string[] }[] }>('/v1/models', {
      headers: bearer((await makeKey(s.t)).key),
    })
    expect(listed.data.filter(({ id }) => id === 'n').map(({ targets }) => targets)).toEqual([['b/m']])
  })

  it.each([
    ['[{"name":"ok","candidates":["a/m"]},{"name":"bad","candidates":["coder"]},{"candidates":["a/m"]},7]', 3],
    ['[{"name":"ok","candidates":["a/m"]},{"name":"ok","candidates":["b/m"]},{"name":"none"}]', 2],
    ['{"name":"ok"}', 1],
    ['[{', 0],
  ])('an entry that is wrong is logged and left out: %s', async (ROUTES, wrong) => {
    const log = recordingLog()
    await start('a', { env: { ROUTES }, ports: { log } })
    expect(log.lines.filter(({ message }) => message.startsWith('routes.invalid'))).toHaveLength(wrong)
    expect((await s.ask('ok')).status).toBe(ROUTES.startsWith('[{"') ? 200 : 400)
    expect((await s.ask('bad')).status).toBe(400)
  })
})

describe('a bare model id', () => {
  it('means the one provider that offers it; 400 names them when there are several', async () => {
    const custom = (allowedModels: string[]) => ({
      provider: 'custom',
      baseUrl: 'http://127.0.0.1:9/v1',
      wireFormat: 'chat',
      apiKey: 'k',
      allowedModels,
    })
    await start('a', {
      connections: { echo: { provider: 'echo' }, one: custom(['twin', 'x/y']), two: custom(['twin']) },
    })
    const { model } = (await (await s.ask('echo-1')).json()) as { model: string }
    expect(model).toContain('echo-1')
    const refused = await refusalOf(await s.ask('twin'))
    expect(refused).toMatchObject({ status: 400, param: 'model' })
    expect(refused.message).toMatch(/`one\/twin`, `two\/twin`/)
    for (const unknown of ['nobody', 'x/y', 'twin*'])
      expect(await refusalOf(await s.ask(unknown))).toMatchObject({ status: 400, code: 'model_not_found', param: 'model' })
  })

  it('loses to a virtual model of that name', async () => {
    await start('a', { connections: { echo: { provider: 'echo' } } })
    await s.make({ name: 'echo-1', strategy: 'failover', targets: ['a/m'] })
    expect(contentOf(await (await s.ask('echo-1')).json())).toBe('a')
  })
})

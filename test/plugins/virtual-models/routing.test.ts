import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelFacts } from '../../../plugins/catalog/service.ts'
import { contentOf, refusalOf, type Site, type SiteOptions, seeded, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}
const targets = (names: string) => names.split('').map((name) => `${name}/m`)

/** Says of models what no rate card knows. */
function factsPlugin(known: Record<string, Partial<ModelFacts>>) {
  return definePlugin({
    name: 'facts',
    requires: ['modelFacts'],
    setup: (gateway) => gateway.use('modelFacts').layer((provider, model) => known[`${provider}/${model}`] ?? null),
  })()
}
const priced = (input: number, output: number): Partial<ModelFacts> => ({ price: { input: input * 1e9, output: output * 1e9 } })

describe('failover', () => {
  it('asks in the order of the list, and the next one after a failure', async () => {
    await start('ab', { script: { a: [fail(500), text('a')] } })
    await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    const response = await s.ask('vm')
    expect(contentOf(await response.json())).toBe('b')
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    await s.t.untilSettled(1)
    expect(s.t.settled[0]?.ctx).toMatchObject({ virtualModel: 'vm', attempts: { length: 2 } })
    expect(s.up.b?.requests[0]?.json.model).toBe('m')
  })

  it('does not ask a second one about a request that is wrong', async () => {
    await start('ab', { script: { a: [fail(400)] } })
    await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    expect((await s.ask('vm')).status).toBe(400)
    expect([s.calls('a'), s.calls('b')]).toEqual([1, 0])
  })

  it('tries no more accounts than max_attempts says', async () => {
    await start('abc', { script: { a: [fail(500)], b: [fail(500)], c: [fail(500)] } })
    await s.make({ name: 'vm', strategy: 'failover', targets: targets('abc'), config: { max_attempts: 2 } })
    expect((await s.ask('vm')).status).toBe(500)
    expect([s.calls('a'), s.calls('b'), s.calls('c')]).toEqual([1, 1, 0])
  })

  it('passes over a disabled target, and stays with one connection where the target names it', async () => {
    await start('ab')
    const { data } = await s.json<{ data: { id: number; provider: string }[] }>('/api/providers')
    const a = data.find(({ provider }) => provider === 'a')?.id
    await s.make({
      name: 'vm',
      strategy: 'failover',
      targets: [
        { target: 'b/m', enabled: false },
        { target: 'a/m', connection_id: a, params: { top_p: 0.5, model: 'x' } },
      ],
    })
    expect(await s.askTimes(1, 'vm')).toEqual(['a'])
    expect(s.up.a?.requests[0]?.json).toMatchObject({ model: 'm', top_p: 0.5 })
  })
})

describe('load_balance', () => {
  it('gives everybody the same share, exactly, and a preview in between moves nothing', async () => {
    await start('abc')
    const { id } = await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('abc') })
    const seen: string[] = []
    for (let i = 0; i < 6; i++) {
      const looked = await s.json<{ cursor: number; order: { target: string }[] }>(`/api/virtual-models/${id}/preview`)
      expect(looked.cursor).toBe(i)
      seen.push(...(await s.askTimes(1, 'vm')))
      expect(looked.order[0]?.target).toBe(`${seen.at(-1)}/m`)
    }
    expect(seen.join('')).toBe('abcabc')
  })

  it('starts again when the targets change, and not when another virtual model does', async () => {
    await start('ab')
    const { id } = await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('ab') })
    expect(await s.askTimes(1, 'vm')).toEqual(['a'])
    await s.make({ name: 'other', strategy: 'failover', targets: targets('ab') })
    expect(await s.askTimes(2, 'vm')).toEqual(['b', 'a'])
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ targets: targets('ba') })
    await s.t.fetch(`/api/virtual-models/${id}`, { method: 'PUT', body, headers })
    expect(await s.askTimes(2, 'vm')).toEqual(['b', 'a'])
  })

  it('keeps the spread of those that are left when another plugin drops one', async () => {
    const drop = definePlugin({
      name: 'drop',
      setup(gateway) {
        gateway.hook('candidates', (ctx, list) =>
          list.filter((one) => one.connection.provider !== 'b' || void ctx.skip(one, 'cooldown', ctx.startedAt + 5000)),
        )
      },
    })
    await start('abc', { plugins: [drop()] })
    await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('abc') })
    expect((await s.askTimes(4, 'vm')).join('')).toBe('acac')
    await s.make({ name: 'lone', strategy: 'load_balance', targets: targets('b') })
    const refused = await s.ask('lone')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('weighted', () => {
  it('draws in proportion, from the draw it was given; zero is for when the others fail', async () => {
    await start('abc', { options: { random: seeded(5) }, script: { a: [text('a')], b: [text('b')] } })
    const weights = { a: 3, b: 1, c: 0 }
    await s.make({
      name: 'vm',
      strategy: 'weighted',
      targets: Object.entries(weights).map(([name, weight]) => ({ target: `${name}/m`, weight })),
    })
    const seen = await s.askTimes(80, 'vm')
    expect(seen.filter((name) => name === 'a').length / 80).toBeCloseTo(0.75, 0)
    expect(seen).not.toContain('c')
    s.up.a?.script(fail(500))
    s.up.b?.script(fail(500))
    expect(await s.askTimes(1, 'vm')).toEqual(['c'])
  })
})

describe('cost_optimized', () => {
  it('asks the cheapest for this request first, and those without a price last', async () => {
    const known = { 'a/m': priced(1, 100), 'b/m': priced(5, 5), 'd/m': priced(0, 0) }
    await start('abcd', { plugins: [factsPlugin(known)] })
    await s.make({ name: 'vm', strategy: 'cost_optimized', targets: targets('cab') })
    await s.make({ name: 'free', strategy: 'cost_optimized', targets: targets('cabd') })
    // Much to write: b. Hardly any: a.
    expect(contentOf(await (await s.ask('vm', { max_tokens: 1000 })).json())).toBe('b')
    const long = [{ role: 'user', content: 'word '.repeat(2000) }]
    expect(contentOf(await (await s.ask('vm', { max_tokens: 1, messages: long })).json())).toBe('a')
    expect(await s.askTimes(1, 'free')).toEqual(['d'])
    const { id } = (await s.json<{ data: { id: number }[] }>('/api/virtual-models')).data[0] as { id: number }
    const preview = await s.json<{ order: { target: string; signals: Record<string, number> }[] }>(
      `/api/virtual-models/${id}/preview?input_tokens=1000000&max_tokens=1000`,
    )
    expect(preview.order.map(({ target }) => target)).toEqual(['a/m', 'b/m', 'c/m'])
    expect(preview.order[0]?.signals).toMatchObject({ est_cost_usd: 1.1, input_per_1m: 1, output_per_1m: 100 })
    expect(preview.order[2]?.signals).not.toHaveProperty('est_cost_usd')
  })
})

describe('latency_based', () => {
  it('measures everybody once, then asks the quickest; a failure counts against its target', async () => {
    const clock = fakeClock()
    const taking = (ms: number) => ({ hold: () => clock.advance(ms) })
    await start('abc', {
      script: { a: [text('a', taking(2000))], b: [text('b', taking(5))], c: [fail(500), text('c')] },
      ports: { clock },
    })
    const { id } = await s.make({ name: 'vm', strategy: 'latency_based', targets: targets('abc') })
    expect(await s.askTimes(3, 'vm')).toEqual(['a', 'b', 'b'])
    expect(s.calls('c')).toBe(1)
    expect(await s.askTimes(2, 'vm')).toEqual(['b', 'b'])
    const preview = await s.json<{ order: { target: string; signals: Record<string, number> }[] }>(
      `/api/virtual-models/${id}/preview`,
    )
    expect(preview.order.map(({ target }) => target)).toEqual(['b/m', 'a/m', 'c/m'])
    expect(preview.order[0]?.signals.latency_samples).toBe(4)
    expect(preview.order[2]?.signals.latency_ms).toBeGreaterThanOrEqual(10_000)
  })
})

describe('capability', () => {
  const known = {
    'a/m': { capabilities: { vision: false, function_calling: false }, contextWindow: 1000 },
    'b/m': { capabilities: { vision: true, function_calling: true }, contextWindow: 100_000 },
  }
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }]
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const long = [{ role: 'user', content: 'word '.repeat(2000) }]

  it('passes over who is known to be unable, and over nobody when all are', async () => {
    await start('ab', { plugins: [factsPlugin(known)] })
    await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    await s.make({ name: 'blind', strategy: 'failover', targets: ['a/m', 'a/x'] })
    const answered = async (body: object) => contentOf(await (await s.ask('vm', body)).json())
    expect([await answered({}), await answered({ tools, tool_choice: 'none' })]).toEqual(['a', 'a'])
    for (const body of [{ messages: image }, { tools }, { messages: long }]) expect(await answered(body)).toBe('b')
    await s.t.untilSettled(5)
    expect(s.t.settled[2]?.ctx.attempts[0]).toMatchObject({ action: 'skipped', skipped: { reason: 'capability' } })
    expect((await s.ask('blind', { messages: image })).status).toBe(200)
    s.up.b?.script(fail(503))
    expect((await s.ask('vm', { messages: image })).status).toBe(503)
    expect(s.calls('a')).toBe(3)
  })
})

describe('a virtual model that cannot be used', () => {
  it('is 400 with its reason', async () => {
    await start('a')
    await s.make({ name: 'off', strategy: 'failover', targets: ['a/m'], enabled: false })
    await s.make({ name: 'empty', strategy: 'failover', targets: [{ target: 'a/m', enabled: false }] })
    await s.make({ name: 'unconnected', strategy: 'failover', targets: ['openai/gpt-4o'] })
    for (const [name, message] of [
      ['off', 'disabled'],
      ['empty', 'no enabled target'],
      ['unconnected', 'No connection'],
    ] as const) {
      const refused = await refusalOf(await s.ask(name))
      expect(refused).toMatchObject({ status: 400, param: 'model' })
      expect(refused.message).toContain(message)
    }
  })
})

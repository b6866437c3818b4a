// Each kind of recommendation is found in the world that is made for it, once, and with the saving that the world is worth.
import { afterEach, describe, expect, it } from 'vitest'
import { choose, reply } from '../../../adapters/testing/script.ts'
import { DAY, times, virtualModel, type World, words, world } from './support.ts'

let w: World
afterEach(() => w.t.close())

/** All traffic is of one day: a month is 30 times that. */
const MONTH = 30
const kinds = async () => (await w.advice()).map(({ kind }) => kind)

describe('switch_model', () => {
  it('finds easy work on an expensive target, with the price of the same tokens at the cheaper one', async () => {
    w = await world()
    w.usage = { input: 400, output: 50 }
    await virtualModel(w, 'coder', ['chat/dear', 'messages/cheap'])
    await times(60, () => w.ask({ model: 'coder' }))
    const [found, ...others] = await w.advice()
    expect(others).toEqual([])
    expect(found).toMatchObject({
      kind: 'switch_model',
      evidence: { virtual_model: 'coder', from: 'chat/dear', to: 'messages/cheap', requests: 60 },
      apply_action: { type: 'update_virtual_model' },
    })
    const each = (400 * 9 + 50 * 36) / 1e6
    expect(found?.est_monthly_usd).toBeCloseTo(60 * each * MONTH, 6)
    // The answers of the two models are not compared.
    expect(found?.confidence).toBeLessThanOrEqual(0.4)
    // The same finding has the same id.
    const [again] = await w.advice()
    expect(again?.id).toBe(found?.id)
  })

  const scoredWorld = async (score: string, samples: number) => {
    w = await world({
      env: { SHADOW_EVAL_ENABLED: 'true', SHADOW_SAMPLE_RATE: '1', SHADOW_TTL_DAYS: '30' },
      upstream: [answersAs(score)],
    })
    await virtualModel(w, 'coder', ['chat/dear', 'chat/cheap'])
    await times(60, (index) => w.ask({ model: 'coder', headers: index < samples ? {} : { 'x-gateway-shadow': 'off' } }))
    for (let tries = 0; tries < 200; tries++) {
      const { body } = await w.api<{ data: { state: string }[] }>('GET', '/api/shadow?limit=200')
      if (body.data.filter(({ state }) => state === 'scored').length >= samples) break
      await w.clock.advance('3s')
      await new Promise((done) => setTimeout(done, 2))
    }
  }
  /** Hard work; the cheap model says what the dear one says, or nothing like it. */
  const answersAs = (other: string) =>
    choose(({ json }) => reply({ text: json.model === 'cheap' ? other : '{"a":1,"b":2}', usage: { input: 400, output: 900 } }))

  it.each([
    ['is sure of hard work that the cheaper model did as well', '{"a":1,"b":2}', 12, 0.55],
    ['says nothing for hard work that it did worse', '{"c":1}', 12, null],
    ['says nothing for hard work with too few samples', '{"a":1,"b":2}', 9, null],
  ])('%s', async (_, other, samples, confidence) => {
    await scoredWorld(other, samples)
    const found = (await w.advice()).filter(({ kind }) => kind === 'switch_model')
    expect(found.map((one) => [one.confidence, one.evidence.shadow_samples, one.evidence.shadow_score])).toEqual(
      confidence === null ? [] : [[confidence, samples, 1]],
    )
  })

  it.each([
    ['hard work', { input: 400, output: 900 }, ['chat/dear', 'messages/cheap']],
    ['no cheaper target', { input: 400, output: 50 }, ['chat/dear', 'messages/dear']],
    [
      'a cheaper target that is disabled',
      { input: 400, output: 50 },
      ['chat/dear', { target: 'messages/cheap', enabled: false }],
    ],
  ])('says nothing for %s', async (_, usage, targets) => {
    w = await world()
    w.usage = usage
    await virtualModel(w, 'coder', targets)
    await times(60, () => w.ask({ model: 'coder' }))
    expect(await kinds()).toEqual([])
  })
})

describe('settings', () => {
  it('finds repeats for the exact cache', async () => {
    w = await world()
    await times(60, (index) =>
      w.ask({ model: 'chat/dear', text: index % 6 === 5 ? 'The same?' : `Question number ${index} of many` }),
    )
    const [found, ...others] = await w.advice()
    expect(others).toEqual([])
    expect(found).toMatchObject({
      kind: 'enable_exact_cache',
      apply_action: { type: 'set_setting', params: { key: 'exact_cache.ttl_ms', value: 300_000 } },
    })
    // Ten times the same: nine repeats.
    expect(found?.est_monthly_usd).toBeCloseTo(((9 * (100 * 10 + 20 * 40)) / 1e6) * MONTH, 6)
    await w.api('PUT', '/api/settings', { 'exact_cache.ttl_ms': 300_000 })
    expect(await kinds()).toEqual([])
  })

  it('finds nearly equal short prompts for the semantic cache, and has only a hint', async () => {
    w = await world()
    await times(60, (index) =>
      w.ask({ model: 'chat/dear', text: index % 6 === 5 ? `what is  a HERON${'?'.repeat(index)}` : words(index) }),
    )
    const found = await w.advice()
    expect(found.map(({ kind }) => kind)).toEqual(['enable_semantic_cache'])
    expect(found[0]?.apply_action).toBeNull()
  })

  it('finds repeated beginnings without cache marks for an upstream that speaks messages', async () => {
    w = await world()
    w.usage = { input: 1000, output: 300 }
    const system = words(0).repeat(40)
    await times(60, (index) => w.ask({ model: 'messages/dear', system, text: words(index) }))
    const [found, ...others] = await w.advice()
    expect(others).toEqual([])
    expect(found).toMatchObject({ kind: 'enable_cache_injection', apply_action: { params: { key: 'cache_injection.enabled' } } })
    const share = Number(found?.evidence.repeated_share)
    expect(share).toBeGreaterThan(0.9)
    const worth = ((60 * 1000 * (share * 9 - (1 - share) * 2.5)) / 1e6) * MONTH
    expect(Math.abs((found?.est_monthly_usd ?? 0) / worth - 1)).toBeLessThan(0.01)
  })

  it('finds tool output for the filters', async () => {
    w = await world()
    w.usage = { input: 1000, output: 300 }
    await times(60, (index) => w.ask({ model: 'chat/dear', text: words(index), tool: words(index + 1000).repeat(5) }))
    expect(await kinds()).toEqual(['enable_token_filters'])
  })
})

describe('health', () => {
  it('finds a target that fails often, and puts it last', async () => {
    w = await world()
    w.usage = { input: 400, output: 900 }
    const id = await virtualModel(w, 'coder', ['chat/cheap', 'messages/cheap'])
    w.failing.set('chat/cheap', 0.2)
    await times(60, () => w.ask({ model: 'coder' }))
    const found = await w.advice()
    expect(found).toMatchObject([
      {
        kind: 'demote_target',
        evidence: { target: 'chat/cheap' },
        apply_action: { params: { id, targets: [{ target: 'messages/cheap' }, { target: 'chat/cheap' }] } },
      },
    ])
  })

  it('finds a model that an outage of its only provider stopped', async () => {
    w = await world()
    w.failing.set('chat/cheap', 1)
    await times(8, async (index) => {
      await w.ask({ model: 'chat/cheap', text: words(index) })
      // Past the cooldown of the account.
      await w.clock.advance('3m')
    })
    expect(await w.advice()).toMatchObject([{ kind: 'add_fallback', evidence: { provider: 'chat' }, apply_action: null }])
  })
})

describe('upkeep', () => {
  it('finds a key that nothing was asked with for 30 days', async () => {
    w = await world()
    const make = async (label: string) => (await w.api<{ key: string; id: number }>('POST', '/api/keys', { label })).body
    const [busy, idle] = [await make('busy'), await make('idle')]
    w.jump(31 * DAY)
    await make('new')
    await w.ask({ model: 'chat/cheap', headers: { authorization: `Bearer ${busy.key}` } })
    expect(await w.advice()).toMatchObject([{ kind: 'unused_key', evidence: { key_id: idle.id, label: 'idle' } }])
  })

  it('finds a month that will cost more than planned', async () => {
    w = await world({ env: { MONTHLY_BUDGET_USD: '0.1' } })
    w.usage = { input: 5000, output: 300 }
    await times(2, () => w.ask({ model: 'chat/dear' }))
    const [found] = await w.advice()
    expect(found?.kind).toBe('budget_at_risk')
    const { body } = await w.api<{ monthly_budget: Record<string, unknown> }>('GET', '/api/advisor')
    expect(body.monthly_budget).toMatchObject({ limit_usd: 0.1, spend_usd: 0.124, status: 'over' })
  })

  it('has no monthly budget when none is set', async () => {
    w = await world()
    const { body } = await w.api('GET', '/api/advisor')
    expect(body).toMatchObject({ monthly_budget: null, window_days: 14, data: [] })
  })
})

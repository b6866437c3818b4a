// The source of vectors, their cost and its owner, and the behaviour without them.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { LedgerService, UsageRow } from '../../../plugins/ledger/service.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { ask as asking, bodyOf, put } from '../exact-cache/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { type Site, type SiteOptions, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

async function ask(prompt = 'q', headers: Record<string, string> = {}) {
  const seen = await asking(s.t, 'chat', bodyOf('chat', prompt), headers)
  await turns()
  return seen
}

it('asks the connection of the embed model in OpenAI’s format, with its key, once a request', async () => {
  s = await site()
  await ask('q')
  await ask('q')
  expect(s.embed.asked).toEqual(
    Array.from({ length: 2 }, () => ({ model: 'e-1', input: ['q'], authorization: 'Bearer sk-embed' })),
  )
})

describe('no vector is a miss, never an error', () => {
  it.each([500, 401, 200] as const)('status %s without vectors', async (status) => {
    s = await site()
    s.embed.fails = status
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ status: 200, cache: 'miss' })
    expect(s.up.requests).toHaveLength(2)
  })

  it.each([
    ['zeros', [0, 0]],
    ['nothing', []],
    ['no numbers', ['x']],
  ])('vectors of %s', async (_, vector) => {
    s = await site({ vectorOf: () => vector as number[] })
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ status: 200, cache: 'miss' })
  })

  it('an embedder that is silent holds a request up for two seconds', async () => {
    const clock = fakeClock()
    s = await site({ ports: { clock } })
    s.embed.fails = 'silent'
    const asked = ask()
    await expect.poll(() => s.embed.asked.length).toBe(1)
    await clock.advance(1999)
    expect(s.up.requests).toHaveLength(0)
    await clock.advance(1)
    expect(await asked).toMatchObject({ status: 200, cache: 'miss' })
  })

  it('an account with all of its requests in flight is not asked, and has room again afterwards', async () => {
    const clock = fakeClock()
    s = await site({ ports: { clock }, env: { ACCOUNT_MAX_INFLIGHT: '1' } })
    s.embed.fails = 'silent'
    const first = ask('q')
    await expect.poll(() => s.embed.asked.length).toBe(1)
    expect(await ask('q 0.5')).toMatchObject({ status: 200, cache: 'miss' })
    expect(s.embed.asked).toHaveLength(1)
    await clock.advance(2000)
    expect(await first).toMatchObject({ status: 200, cache: 'miss' })
    s.embed.fails = null
    await ask('q')
    expect(s.embed.asked).toHaveLength(2)
    expect(await ask('q')).toMatchObject({ cache: 'hit', type: 'semantic' })
  })

  it('a vector of another length finds nothing', async () => {
    s = await site()
    await ask()
    s.embed.vectorOf = () => [1, 0, 0, 0]
    expect((await ask()).cache).toBe('miss')
  })

  it('a caller that leaves meanwhile is gone, and no upstream is asked', async () => {
    s = await site()
    s.embed.fails = 'silent'
    const leaving = new AbortController()
    const left = s.t.fetch('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(bodyOf('chat', 'q')),
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
    })
    await expect.poll(() => s.embed.asked.length).toBe(1)
    leaving.abort()
    await left
    s.embed.fails = null
    await s.t.untilSettled(1)
    expect(s.t.settled[0]?.outcome.status).toBe(499)
    expect(s.up.requests).toHaveLength(0)
  })
})

describe('the embed model', () => {
  const refused: [string | undefined, string][] = [
    [undefined, 'no embed model'],
    ['auto', '`auto`'],
    ['gateway/free', 'of this gateway'],
    ['e-1', 'names no provider'],
    ['cheap/embed', 'of this gateway'],
    ['nobody/e-1', 'provider `nobody`'],
  ]

  it.each(refused)('%s: the cache stays off, and the log says why', async (model, reason) => {
    const log = recordingLog()
    const routes = JSON.stringify([{ name: 'cheap/embed', candidates: ['embed/e-1'] }])
    s = await site({ env: { SEMANTIC_CACHE_EMBED_MODEL: model ?? '', ROUTES: routes }, ports: { log } })
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ status: 200, cache: 'miss' })
    expect(s.embed.asked).toEqual([])
    expect(
      log.lines.filter(
        ({ level, message, fields }) =>
          level === 'error' && message === 'semantic_cache.off' && JSON.stringify(fields).includes(reason),
      ),
    ).toHaveLength(1)
  })

  it('a virtual model of that name switches it off, from the moment it is made', async () => {
    s = await site()
    await ask()
    const made = await s.t.post('/api/virtual-models', { name: 'embed/e-1', strategy: 'failover', targets: ['chat/m'] })
    expect(made.status).toBe(201)
    expect((await ask()).cache).toBe('miss')
    expect(s.embed.asked).toHaveLength(1)
  })
})

it('is off by default, and the setting switches it at once in both directions', async () => {
  s = await site({ env: { SEMANTIC_CACHE_ENABLED: 'false' } })
  await ask()
  expect(s.embed.asked).toEqual([])
  await put(s.t, { semantic_cache: { enabled: true } })
  await ask()
  expect((await ask()).cache).toBe('hit')
  await put(s.t, { semantic_cache: { enabled: false } })
  expect((await ask()).cache).toBe('miss')
  expect(s.embed.asked).toHaveLength(2)
})

describe('the bill', () => {
  let ledger: LedgerService
  const prices = definePlugin({
    name: 'test-prices',
    setup(gateway) {
      gateway.provide('prices', {
        price({ usage, operation }) {
          const costNano = operation === 'embeddings' ? usage.inputTotal * 1000 : usage.inputTotal * 10 + usage.outputTotal * 100
          return { costNano, chargeNano: costNano, ref: 'test' }
        },
      })
    },
  })
  const taker = definePlugin({
    name: 'test-taker',
    requires: ['ledger'],
    setup(gateway) {
      ledger = gateway.use('ledger')
    },
  })
  const opened = async (options: SiteOptions = {}) => {
    s = await site({ first: [prices()], plugins: [taker()], upstream: [text('answer')], ...options })
  }
  const rows = async (): Promise<UsageRow[]> => {
    await turns()
    const found: UsageRow[] = []
    await ledger.usage.newest({ since: 0, until: Number.MAX_SAFE_INTEGER }, 100, (row) => void found.push(row))
    return found.reverse()
  }
  const spent = async (id: number) => ((await (await s.t.fetch(`/api/budgets/${id}`)).json()) as { spend_usd: number }).spend_usd

  it('an embedding is a row of its own under `cache_embedding`; the hit costs nothing and shows the tokens of the kept call', async () => {
    await opened()
    await ask()
    await ask('q 0.97')
    const booked = await rows()
    expect(booked.filter(({ source }) => source === 'cache_embedding')).toMatchObject(
      Array.from({ length: 2 }, () => ({
        operation: 'embeddings',
        provider: 'embed',
        model: 'e-1',
        keyId: null,
        costNano: 8000,
        cached: null,
        status: 200,
        tokens: { input: 8, output: 0 },
      })),
    )
    expect(booked.filter(({ source }) => source === 'cache')).toMatchObject([
      { cached: 'semantic', provider: 'chat', model: 'm', costNano: 0, chargeNano: 0, tokens: { input: 12, output: 7 } },
    ])
    expect(booked.filter(({ source }) => source === 'api')).toMatchObject([{ costNano: 820, cached: null }])
    expect(new Set(booked.map(({ requestId }) => requestId)).size).toBe(4)
    const hit = s.t.settled.find(({ outcome }) => outcome.cached === 'semantic')
    expect(hit?.outcome.cachedCall).toMatchObject({
      costNano: 820,
      chargeNano: 820,
      priceRef: 'test',
      provider: 'chat',
      model: 'm',
    })
  })

  it('is the organization’s, not the key’s', async () => {
    await opened()
    const key = await makeKey(s.t)
    const budget = async (body: object) =>
      ((await (await s.t.post('/api/budgets', { window: 'lifetime', hard_limit_usd: 1, ...body })).json()) as { id: number }).id
    const own = await budget({ scope: 'key', entity_id: key.id })
    const org = await budget({ scope: 'org' })
    await ask('q', bearer(key.key))
    await ask('q', bearer(key.key))
    await turns()
    expect(await spent(own)).toBeCloseTo(820e-9, 12)
    expect(await spent(org)).toBeCloseTo(820e-9 + 2 * 8000e-9, 12)
  })

  it('an embedder that reports no usage is estimated', async () => {
    await opened()
    s.embed.usage = null
    await ask()
    expect((await rows()).find(({ source }) => source === 'cache_embedding')).toMatchObject({
      estimated: true,
      tokens: { input: 1 },
    })
  })

  it('is in the log of requests', async () => {
    await opened()
    await ask()
    await expect
      .poll(async () => ((await (await s.t.fetch('/api/logs?source=cache_embedding')).json()) as { data: unknown[] }).data)
      .toMatchObject([{ source: 'cache_embedding', provider: 'embed', model: 'e-1', status: 200 }])
  })
})

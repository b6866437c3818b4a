// Fetching rate cards: accepted cards, failures of all sources, and what operators can see.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { closedPort } from '../../../adapters/testing/network-faults.ts'
import { connectProxy } from '../../../adapters/testing/proxies.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { PRIMARY_CARD, type Say } from '../../support/rate-cards/card-server.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { type World, world } from './support.ts'

let t: World
const undo: (() => unknown)[] = []
afterEach(async () => {
  await t.close()
  for (const fn of undo.splice(0)) await fn()
})

const health = async (of = t) => await of.get<{ status: string; pricing?: unknown }>('/healthz')
const metric = async (name: string) =>
  (await (await t.fetch('/metrics')).text())
    .split('\n')
    .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
const runs = () =>
  (t.gateway.db as Database).all<{ id: number; reason: string; status: string }>(
    sql`SELECT id, reason, status FROM pricing_runs ORDER BY id`,
  )

describe('the first sync', () => {
  it('comes shortly after the boot, in the background, and then on the interval', async () => {
    t = await world({ env: { PRICING_SYNC_INTERVAL_SECS: '600' } })
    expect(t.cards.asked).toEqual([])
    expect(await health()).not.toHaveProperty('pricing')
    await t.clock.advance(1999)
    expect(t.cards.asked).toEqual([])
    await t.clock.advance(1)
    await expect.poll(() => runs()).toEqual([{ id: 1, reason: 'start', status: 'ok' }])
    expect(t.cards.asked.map(({ path }) => path)).toEqual(['/primary/v1.89.4/card.json'])
    await expect
      .poll(() => health())
      .toMatchObject({ status: 'ok', pricing: { ok: true, last_success_at: '2026-01-01T00:00:02.000Z' } })
    // Ten minutes, plus or minus ten percent.
    await t.clock.advance('530s')
    expect(t.cards.asked).toHaveLength(1)
    await t.clock.advance('130s')
    await expect.poll(runs).toMatchObject([{}, { reason: 'timer', status: 'ok' }])
  })

  it('does not happen when it is switched off, and nobody can ask for it then', async () => {
    t = await world({ env: { PRICING_SYNC_ENABLED: 'false', PRICING_SYNC_INTERVAL_SECS: '60' } })
    await t.clock.advance('5m')
    expect(await t.sync()).toMatchObject({ id: null, status: 'disabled' })
    expect(t.cards.asked).toEqual([])
    expect((await t.price('openai/gpt-4o')).source).toBe('builtin')
  })

  it('is asked for by its reference, without credentials, and through the outbound proxy', async () => {
    const proxy = await connectProxy()
    undo.push(() => proxy.close())
    t = await world({ env: { PRICING_SYNC_REF: 'main', OUTBOUND_PROXY: `http://127.0.0.1:${proxy.port}` } })
    expect(await t.sync()).toMatchObject({ status: 'ok', ref: 'main' })
    expect(proxy.tunnels).toHaveLength(1)
    const [asked] = t.cards.asked
    expect(asked?.path).toBe('/primary/main/card.json')
    expect(asked?.headers).not.toHaveProperty('authorization')
  })
})

describe('a source that fails', () => {
  const FAILURES: [string, Say, RegExp][] = [
    ['500', { status: 500 }, /answered 500/],
    ['404', { status: 404, body: { error: 'gone' } }, /answered 404/],
    ['a redirect inward', { status: 302, headers: { location: 'http://169.254.169.254/' } }, /answered 302/],
    ['304 without being asked', { status: 304 }, /answered 304/],
    ['HTML', { body: '<html>' }, /not answer with JSON/],
    ['half a card', { body: JSON.stringify(PRIMARY_CARD).slice(0, -20) }, /not answer with JSON/],
    ['a list', { body: [] }, /not a JSON object/],
    ['nothing at all', { body: '{}' }, /0 priced models/],
    ['models without prices', { body: { m: { litellm_provider: 'openai', input_cost_per_token: 0 } } }, /0 priced models/],
    [
      'only absurd prices',
      { body: { m: { litellm_provider: 'openai', input_cost_per_token: -1, output_cost_per_token: 5 } } },
      /0 priced/,
    ],
    ['an answer without end', 'endless', /larger than the limit/],
  ]
  it.each(FAILURES)('primary: %s → the fallback counts', async (_name, say, complaint) => {
    t = await world()
    t.cards.primary = say
    const run = await t.sync()
    expect(run).toMatchObject({ status: 'ok', source: 'fallback' })
    expect(run.error).toMatch(complaint)
    expect((await t.price('openai/second-model')).source).toBe('fallback')
    // Not much more than the limit was read.
    if (say === 'endless') expect(t.cards.poured).toBeLessThan(100 * 1024 * 1024)
    expect(await metric('gateway_pricing_sync_total{source="primary",result="failed"}')).toMatch(/ 1$/)
    expect(await metric('gateway_pricing_sync_total{source="fallback",result="ok"}')).toMatch(/ 1$/)
  })

  it('primary: too slow → the fallback counts', async () => {
    t = await world({ env: { PRICING_SYNC_FETCH_TIMEOUT_SECS: '7' } })
    t.cards.primary = 'hang'
    const running = t.sync()
    await expect.poll(() => t.cards.asked.length).toBe(1)
    await t.clock.advance('6s')
    expect(t.cards.asked).toHaveLength(1)
    await t.clock.advance('1s')
    expect(await running).toMatchObject({ source: 'fallback', error: 'primary: No answer within 7 s.' })
  })

  it('both: the boot is fine, what was known stays, and /healthz, log and metrics say so', async () => {
    const port = await closedPort()
    const nowhere = {
      PRICING_SYNC_URL: `http://127.0.0.1:${port}/secret-path`,
      PRICING_FALLBACK_URL: `http://127.0.0.1:${port}/`,
    }
    t = await world({ env: nowhere })
    await t.clock.advance('2s')
    await expect.poll(() => health()).toMatchObject({ status: 'ok', pricing: { ok: false, last_success_at: null } })
    const run = await t.sync()
    expect(run).toMatchObject({ status: 'failed', source: null, models: 0 })
    expect(run.error).toMatch(/^primary: .+ fallback: .+/)
    expect(run.error).not.toMatch(/secret-path|127\.0/)
    expect(t.log.lines.filter(({ message }) => message === 'pricing.sync_failed')[0]).toMatchObject({ level: 'warn' })
    expect(await metric('gateway_pricing_last_success_timestamp_seconds')).toMatch(/ 0$/)
    expect(await t.price('openai/gpt-4o')).toMatchObject({ source: 'builtin', price_ref: 'builtin', prices: { input: 2.5 } })
    expect((await t.fetch('/health/readiness')).status).toBe(200)
  })

  it('after one that worked: its prices stay', async () => {
    t = await world()
    await t.sync()
    t.cards.primary = t.cards.fallback = { status: 503 }
    t.jump(1 / 24)
    expect(await t.sync()).toMatchObject({ status: 'failed' })
    expect(await t.price('openai/house-model')).toMatchObject({ price_ref: 'primary:1', prices: { input: 1 } })
    expect(await health()).toMatchObject({ status: 'ok', pricing: { ok: false, last_success_at: '2026-01-01T00:00:00.000Z' } })
  })

  it('takes its prices with a restart, when nothing can be reached', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-pricing-'))
    undo.push(() => rmSync(dir, { recursive: true, force: true }))
    const env = { DATA_DIR: dir, MASTER_KEY }
    const first = await world({ env })
    await first.sync()
    await first.put({ data: [{ model: 'openai/house-model', output: 5 }] })
    await first.close()
    const nowhere = `http://127.0.0.1:${await closedPort()}/`
    t = await world({ env: { ...env, PRICING_SYNC_URL: nowhere, PRICING_FALLBACK_URL: nowhere } })
    expect(await t.price('groq/openai/gpt-oss-house')).toMatchObject({
      source: 'primary',
      price_ref: 'primary:1',
      prices: { input: 0.15 },
    })
    expect(await t.price('openai/house-model')).toMatchObject({ source: 'override', prices: { input: 1, output: 5 } })
    expect(await metric('gateway_pricing_models')).not.toMatch(/ 0$/)
  })

  it('hangs: closing does not wait for it', async () => {
    t = await world()
    t.cards.primary = 'hang'
    await t.clock.advance('2s')
    await expect.poll(() => t.cards.asked.length).toBe(1)
    // The clock stands still: a wait for an answer or a timeout would never end.
    await t.gateway.close()
    expect(t.cards.asked).toHaveLength(1)
  })
})

describe('a card that has not changed', () => {
  it('is not sent again, and counts as fresh', async () => {
    t = await world()
    t.cards.primary = { body: PRIMARY_CARD, etag: '"v1"' }
    expect(await t.sync()).toMatchObject({ id: 1, status: 'ok' })
    t.jump(1 / 24)
    expect(await t.sync()).toMatchObject({ id: 2, status: 'unchanged', source: 'primary', changed: 0 })
    expect(t.cards.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"'])
    expect(await t.price('openai/gpt-4o')).toMatchObject({ price_ref: 'primary:1', prices: { input: 2.5 } })
    expect((await health()).pricing).toEqual({ ok: true, last_success_at: '2026-01-01T01:00:00.000Z' })
    expect(await metric('gateway_pricing_sync_total{source="primary",result="unchanged"}')).toMatch(/ 1$/)
  })

  it('is sent again when the fallback was heard meanwhile', async () => {
    t = await world()
    t.cards.primary = { body: PRIMARY_CARD, etag: '"v1"' }
    await t.sync()
    t.cards.primary = { status: 500 }
    expect(await t.sync()).toMatchObject({ source: 'fallback' })
    t.cards.primary = { body: PRIMARY_CARD, etag: '"v1"' }
    expect(await t.sync()).toMatchObject({ status: 'ok', source: 'primary' })
    expect(t.cards.asked.at(-1)?.headers).not.toHaveProperty('if-none-match')
  })
})

describe('the configuration', () => {
  const boot = (env: Record<string, string>) => createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false', ...env } })
  it.each([
    ['PRICING_SYNC_URL', 'http://example.com/card.json', /GATEWAY_PRICING_SYNC_URL: must be an https URL/],
    ['PRICING_SYNC_URL', 'ftp://example.com/card.json', /https URL/],
    ['PRICING_SYNC_URL', 'https://user:hidden@example.com/', /must not hold credentials/],
    ['PRICING_SYNC_URL', 'http://169.254.169.254/latest', /https URL/],
    ['PRICING_SYNC_URL', 'https://169.254.169.254/latest', /metadata service/],
    ['PRICING_FALLBACK_URL', 'http://8.8.8.8/', /GATEWAY_PRICING_FALLBACK_URL/],
    ['PRICING_SYNC_REF', '../../other/repository/main', /GATEWAY_PRICING_SYNC_REF/],
    ['PRICING_SYNC_REF', 'v1 && x', /GATEWAY_PRICING_SYNC_REF/],
    ['PRICING_SYNC_INTERVAL_SECS', '0', /GATEWAY_PRICING_SYNC_INTERVAL_SECS/],
    ['PRICING_SYNC_DRIFT_PCT', '-1', /GATEWAY_PRICING_SYNC_DRIFT_PCT/],
  ])('%s=%s stops the boot by name', async (name, value, complaint) => {
    t = await world()
    const failed = await boot({ [name]: value }).then(
      () => 'it booted',
      (error: Error) => error.message,
    )
    expect(failed).toMatch(complaint)
    expect(failed).not.toContain('hidden')
  })

  it('takes http inside the own network', async () => {
    t = await world()
    for (const url of ['http://10.0.0.7/card.json', 'http://cards.internal/x', 'http://cards/x', 'http://[::1]:99/x'])
      await (await boot({ PRICING_SYNC_URL: url })).close()
  })

  it('asks the public hosts by default, and takes nothing from them that is too small to be the card', async () => {
    const { undiciTransport } = await import('../../../adapters/transport/undici.ts')
    const inner = undiciTransport()
    const asked: string[] = []
    t = await world()
    const origin = new URL(t.cards.urls.PRICING_FALLBACK_URL).origin
    const own = await createTestGateway({
      env: { PRICING_SYNC_ENABLED: 'true' },
      ports: {
        transport: {
          close: () => inner.close(),
          send(request, handler) {
            asked.push(request.url)
            const path = request.url.includes('models.dev') ? '/fallback.json' : '/primary'
            return inner.send({ ...request, url: origin + path }, handler)
          },
        },
      },
    })
    const run = (await (await own.fetch('/api/pricing/sync', { method: 'POST' })).json()) as { status: string; error: string }
    expect(asked).toEqual([
      'https://raw.githubusercontent.com/BerriAI/litellm/v1.89.4/model_prices_and_context_window.json',
      'https://models.dev/api.json',
    ])
    expect(run.status).toBe('failed')
    expect(run.error).toMatch(/primary: .*at least 100 were expected.* fallback: .*at least 100 were expected/)
    t.cards.primary = {
      body: Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [`m-${i}`, { litellm_provider: 'openai', input_cost_per_token: 1e-6 }]),
      ),
    }
    expect(await (await own.fetch('/api/pricing/sync', { method: 'POST' })).json()).toMatchObject({ status: 'ok', models: 100 })
    await own.close()
  })
})

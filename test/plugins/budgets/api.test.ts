// /api/budgets: records, refusals with their reasons, increases, and that a budget counts earlier spending.
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { bearer } from '../keys/support.ts'
import { NOON, org, type Site, site, turns, used } from './support.ts'

let s: Site
afterEach(() => s.close())

interface Refused {
  error: { type: string; code: string | null; param: string | null; message: string }
}

const at = (ms: number) => new Date(NOON + ms).toISOString()
const DAY = 86_400_000

describe('a budget', () => {
  it('is created, listed, changed and deleted, and shows how it stands', async () => {
    s = await site()
    const { id: keyId, key } = await s.key({ label: 'ci-bot' })
    const made = await s.budget({ scope: 'key', entity_id: keyId, window: 'monthly', hard_limit_usd: 100 })
    expect(made).toEqual({
      id: made.id,
      org_id: null,
      scope: 'key',
      entity_id: keyId,
      entity_label: 'ci-bot',
      window: 'monthly',
      hard_limit_usd: 100,
      enabled: true,
      effective_limit_usd: 100,
      spend_usd: 0,
      reserved_usd: 0,
      remaining_usd: 100,
      percent_used: 0,
      window_start: '2026-11-01T00:00:00.000Z',
      window_end: '2026-12-01T00:00:00.000Z',
      projected_usd: 0,
      projected_exceeded: false,
      breaks_at: null,
      increases: [],
      managed_by: 'api',
      config_key: null,
      created_at: at(0),
      updated_at: at(0),
    })
    for (let i = 0; i < 10; i++) await s.spend({}, bearer(key))
    // 20.5 of 30 days have passed.
    expect(await s.shown(made.id)).toMatchObject({ spend_usd: 0.01, percent_used: 0.01, projected_usd: 0.014634146 })
    const { body: list } = await s.api<{ time_zone: string; data: { id: number }[] }>('GET', '/api/budgets')
    expect(list.time_zone).toBe('UTC')
    expect(list.data.map(({ id }) => id)).toEqual([made.id])
    const { body: changed } = await s.api('PUT', `/api/budgets/${made.id}`, { hard_limit_usd: 0.02 })
    expect(changed).toMatchObject({ hard_limit_usd: 0.02, percent_used: 50, window: 'monthly', enabled: true })
    // 20.5 days for 0.01 USD: 0.0125 USD last for 25.6 days.
    const { body: breaking } = await s.api('PUT', `/api/budgets/${made.id}`, { hard_limit_usd: 0.0125 })
    expect(breaking).toMatchObject({ projected_exceeded: true, breaks_at: '2026-11-26T15:00:00.000Z' })
    const { body: broken } = await s.api('PUT', `/api/budgets/${made.id}`, { hard_limit_usd: 0.01 })
    expect(broken).toMatchObject({ projected_exceeded: true, breaks_at: null })
    expect((await s.api('DELETE', `/api/budgets/${made.id}`)).body).toEqual({ deleted: true })
    expect((await s.api('GET', `/api/budgets/${made.id}`)).status).toBe(404)
    expect(await s.spend({ max_tokens: 1_000_000 }, bearer(key))).toBe(200)
  })

  it('projects nothing before a tenth of its window, before ten requests, and never when it lasts for ever', async () => {
    s = await site({ now: Date.UTC(2026, 10, 21, 2) })
    const daily = await s.budget({ ...org, hard_limit_usd: 1 })
    const lifetime = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 1 })
    for (let i = 0; i < 9; i++) await s.spend()
    expect((await s.shown(daily.id)).projected_usd).toBe(null)
    s.clock.jump(1)
    expect((await s.shown(daily.id)).projected_usd).toBe(null)
    await s.spend()
    expect((await s.shown(daily.id)).projected_usd).toBe(0.08)
    expect(await s.shown(lifetime.id)).toMatchObject({ projected_usd: null, window_start: null, window_end: null })
  })

  it('knows what was spent in its window before it was there, and in another one when it moves there', async () => {
    s = await site({ now: Date.UTC(2026, 10, 20, 12) })
    const { id: keyId, key } = await s.key()
    await s.spend({}, bearer(key))
    s.clock.jump(24)
    for (let i = 0; i < 2; i++) await s.spend({}, bearer(key))
    await s.spend()
    const made = await s.budget({ scope: 'key', entity_id: keyId, window: 'daily', hard_limit_usd: 1 })
    expect(made.spend_usd).toBe(0.002)
    expect((await s.budget({ ...org, hard_limit_usd: 1 })).spend_usd).toBe(0.003)
    const moved = await s.api('PUT', `/api/budgets/${made.id}`, { window: 'monthly' })
    expect(moved.body).toMatchObject({ window: 'monthly', spend_usd: 0.003 })
    await s.spend({}, bearer(key))
    expect((await s.shown(made.id)).spend_usd).toBe(0.004)
  })

  it('that is made, or moved, while a request runs counts that request once', async () => {
    s = await site({ upstream: [{ ...used(0, 100), delayMs: 1000 }] })
    const early = await s.budget({ scope: 'org', window: 'weekly', hard_limit_usd: 1 })
    const asked = s.ask()
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(1)
    const late = await s.budget({ ...org, hard_limit_usd: 1 })
    await s.api('PUT', `/api/budgets/${early.id}`, { window: 'monthly' })
    await (await asked).arrayBuffer()
    await s.t.untilSettled(1)
    await turns()
    expect(await s.shown(late.id)).toMatchObject({ spend_usd: 0.001, reserved_usd: 0 })
    expect(await s.shown(early.id)).toMatchObject({ window: 'monthly', spend_usd: 0.001, reserved_usd: 0 })
    // Spending that was counted late is not counted again.
    await s.clock.advance('10s')
    expect((await s.shown(late.id)).spend_usd).toBe(0.001)
  })

  it('does not forget what it has spent when the usage rows of it are gone', async () => {
    s = await site()
    const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 1 })
    await s.spend()
    await s.inside.db.run(sql`DELETE FROM ledger_usage`)
    await s.api('PUT', `/api/budgets/${id}`, { enabled: false })
    expect((await s.api('PUT', `/api/budgets/${id}`, { enabled: true })).body.spend_usd).toBe(0.001)
    await s.clock.advance('6s')
    expect((await s.shown(id)).spend_usd).toBe(0.001)
  })

  it('counts again after five seconds what another replica booked without knowing of it', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    const start = Date.UTC(2026, 10, 21)
    await s.spend()
    await s.ledger.restate(s.inside.db, { name: `budget:${id}`, windowStart: start }, 0)
    expect((await s.shown(id)).spend_usd).toBe(0)
    await s.clock.advance('6s')
    expect((await s.shown(id)).spend_usd).toBe(0.001)
  })
})

describe('a body is refused', () => {
  it.each<[string, object, number, string | null]>([
    ['of another scope', { scope: 'team', window: 'daily', hard_limit_usd: 1 }, 400, 'scope'],
    ['without a scope', { window: 'daily', hard_limit_usd: 1 }, 400, 'scope'],
    ['of another window', { ...org, window: 'fortnightly', hard_limit_usd: 1 }, 400, 'window'],
    ['without a window', { scope: 'org', hard_limit_usd: 1 }, 400, 'window'],
    ['without a limit', org, 400, 'hard_limit_usd'],
    ['with a limit below 0', { ...org, hard_limit_usd: -0.01 }, 400, 'hard_limit_usd'],
    ['with a limit that is no number', { ...org, hard_limit_usd: '5' }, 400, 'hard_limit_usd'],
    ['with a limit beyond all money', { ...org, hard_limit_usd: 1e300 }, 400, 'hard_limit_usd'],
    ['with a member nobody knows', { ...org, hard_limit_usd: 1, colour: 'red' }, 400, 'colour'],
    ['with `enabled` that is no boolean', { ...org, hard_limit_usd: 1, enabled: 'yes' }, 400, 'enabled'],
    ['of an organization with an entity', { ...org, entity_id: 1, hard_limit_usd: 1 }, 400, 'entity_id'],
    ['of an organization with a label', { ...org, entity_label: 'x', hard_limit_usd: 1 }, 400, 'entity_label'],
    ['of a key without one', { scope: 'key', window: 'daily', hard_limit_usd: 1 }, 400, 'entity_id'],
    ['of a key by its label', { scope: 'key', entity_label: 'a', window: 'daily', hard_limit_usd: 1 }, 400, 'entity_label'],
    ['of a key that is not there', { scope: 'key', entity_id: 999, window: 'daily', hard_limit_usd: 1 }, 404, 'entity_id'],
    ['of an id that is none', { scope: 'key', entity_id: 1.5, window: 'daily', hard_limit_usd: 1 }, 400, 'entity_id'],
    ['of no virtual model', { scope: 'virtual_model', window: 'daily', hard_limit_usd: 1 }, 400, 'entity_id'],
    [
      'of a virtual model that is not there',
      { scope: 'virtual_model', entity_label: 'x', window: 'daily', hard_limit_usd: 1 },
      404,
      'entity_label',
    ],
    [
      'of a virtual model named twice',
      { scope: 'virtual_model', entity_id: 1, entity_label: 'x', window: 'daily', hard_limit_usd: 1 },
      400,
      'entity_label',
    ],
  ])('%s', async (_name, body, status, param) => {
    s = await site()
    const refused = await s.api<Refused>('POST', '/api/budgets', body)
    expect(refused.status).toBe(status)
    expect(refused.body.error).toMatchObject({ type: 'invalid_request_error', param })
    expect((await s.api<{ data: [] }>('GET', '/api/budgets')).body.data).toEqual([])
  })

  it('with 409 where there is one for the same scope, entity and window, also by a change', async () => {
    s = await site()
    const { id: keyId } = await s.key()
    const body = { scope: 'key', entity_id: keyId, window: 'daily', hard_limit_usd: 1 }
    await s.budget(body)
    await s.budget({ ...body, entity_id: (await s.key()).id })
    const weekly = await s.budget({ ...body, window: 'weekly' })
    const twin = await s.api<Refused>('POST', '/api/budgets', body)
    expect([twin.status, twin.body.error.code]).toEqual([409, 'already_exists'])
    const moved = await s.api<Refused>('PUT', `/api/budgets/${weekly.id}`, { window: 'daily' })
    expect([moved.status, moved.body.error.code]).toEqual([409, 'already_exists'])
    expect((await s.api('PUT', `/api/budgets/${weekly.id}`, { window: 'weekly' })).status).toBe(200)
  })

  it('above GATEWAY_MAX_KEY_BUDGET_USD for a key, and only for a key', async () => {
    s = await site({ env: { MAX_KEY_BUDGET_USD: '5' } })
    const { id: entity_id } = await s.key()
    const refused = await s.api<Refused>('POST', '/api/budgets', {
      scope: 'key',
      entity_id,
      window: 'daily',
      hard_limit_usd: 5.01,
    })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'hard_limit_usd'])
    const { id } = await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 5 })
    const raised = await s.api<Refused>('PUT', `/api/budgets/${id}`, { hard_limit_usd: 6 })
    expect([raised.status, raised.body.error.param]).toEqual([400, 'hard_limit_usd'])
    await s.budget({ ...org, hard_limit_usd: 500 })
    // Increases are exempt.
    const more = await s.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 50, expires_at: at(DAY) })
    expect([more.status, more.body.effective_limit_usd]).toEqual([201, 55])
  })

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/increase'],
  ])('with 404 where there is no such budget: %s %s', async (method, path) => {
    s = await site()
    const body = method === 'PUT' ? {} : method === 'POST' ? { amount_usd: 1, expires_at: at(DAY) } : undefined
    expect((await s.api<Refused>(method, `/api/budgets/999${path}`, body)).body.error.code).toBe('not_found')
    expect((await s.api(method, `/api/budgets/x${path}`, body)).status).toBe(404)
  })
})

describe('an increase', () => {
  it('lifts a 402 at once, stacks, and lapses at its end', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.001 })
    expect([await s.spend(), await s.spend()]).toEqual([200, 402])
    const increase = (body: object) => s.api('POST', `/api/budgets/${id}/increase`, body)
    const made = await increase({ amount_usd: 0.001, expires_at: at(3_600_000), reason: 'launch' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      hard_limit_usd: 0.001,
      effective_limit_usd: 0.002,
      percent_used: 50,
      increases: [
        {
          amount_usd: 0.001,
          reason: 'launch',
          expires_at: at(3_600_000),
          active: true,
          created_at: at(0),
          created_by: 'local',
        },
      ],
    })
    expect([await s.spend(), await s.spend()]).toEqual([200, 402])
    expect((await increase({ additional_usd: 0.001, expires_at: at(7_200_000) })).body.effective_limit_usd).toBe(0.003)
    // Up to 0.01, from the current 0.003.
    expect((await increase({ hard_limit_usd: 0.01, expires_at: at(7_200_000) })).body.effective_limit_usd).toBe(0.01)
    s.clock.jump(1)
    expect((await s.shown(id)).effective_limit_usd).toBe(0.009)
    expect(await s.spend()).toBe(200)
    s.clock.jump(1)
    expect(await s.shown(id)).toMatchObject({ effective_limit_usd: 0.001, spend_usd: 0.003 })
    expect(await s.spend()).toBe(402)
  })

  it('outlives neither its end nor a request that runs over it', async () => {
    s = await site({ upstream: [{ ...used(0, 100), delayMs: 1000 }] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.0001 })
    await s.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 1, expires_at: at(60_000) })
    const asked = s.ask({ max_tokens: 100 })
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(1)
    await s.clock.advance('90s')
    expect((await asked).status).toBe(200)
    await s.t.untilSettled(1)
    await turns()
    expect(await s.shown(id)).toMatchObject({ spend_usd: 0.001, reserved_usd: 0, effective_limit_usd: 0.0001 })
    expect(await s.spend({ max_tokens: 100 })).toBe(402)
  })

  it.each<[string, object, string]>([
    ['of nothing', { expires_at: at(DAY) }, 'amount_usd'],
    ['said twice', { amount_usd: 1, additional_usd: 1, expires_at: at(DAY) }, 'amount_usd'],
    ['of 0', { amount_usd: 0, expires_at: at(DAY) }, 'amount_usd'],
    ['below 0', { additional_usd: -1, expires_at: at(DAY) }, 'additional_usd'],
    ['that is no number', { amount_usd: '1', expires_at: at(DAY) }, 'amount_usd'],
    ['up to what it is already', { hard_limit_usd: 10, expires_at: at(DAY) }, 'hard_limit_usd'],
    ['without an end', { amount_usd: 1 }, 'expires_at'],
    ['with an end that is past', { amount_usd: 1, expires_at: at(0) }, 'expires_at'],
    ['with an end that is no time', { amount_usd: 1, expires_at: 'tomorrow' }, 'expires_at'],
    ['for more than 90 days', { amount_usd: 1, expires_at: at(90 * DAY + 1) }, 'expires_at'],
    ['with a member nobody knows', { amount_usd: 1, expires_at: at(DAY), until: 1 }, 'until'],
    ['with a reason that is no text', { amount_usd: 1, expires_at: at(DAY), reason: 5 }, 'reason'],
  ])('%s is 400', async (_name, body, param) => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 10 })
    const refused = await s.api<Refused>('POST', `/api/budgets/${id}/increase`, body)
    expect(refused.status).toBe(400)
    expect(refused.body.error).toMatchObject({ type: 'invalid_request_error', code: null, param })
    expect((await s.shown(id)).effective_limit_usd).toBe(10)
  })

  it('of exactly 90 days is taken; with GATEWAY_MAX_BUDGET_INCREASE_DAYS=0 any', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 10 })
    const ending = (ms: number) => s.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 1, expires_at: at(ms) })
    expect((await ending(90 * DAY)).status).toBe(201)
    await s.close()
    s = await site({ env: { MAX_BUDGET_INCREASE_DAYS: '0' } })
    await s.budget({ ...org, hard_limit_usd: 10 })
    expect((await ending(9000 * DAY)).status).toBe(201)
  })
})

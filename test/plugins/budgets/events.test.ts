// Budget events: each is emitted once, by the first process that observes it.
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { SITES } from '../../support/sites.ts'
import { NOON, org, type Site, site, turns, used, wallClock } from './support.ts'

let s: Site
afterEach(() => s.close())

/** Answers that cost this many thousandths of a USD. */
const costs = (...amounts: number[]) => amounts.map((amount) => used(0, amount * 100))
const types = (of: Site = s) => of.history.map(({ type, data }) => `${type} ${data.dedup_key}`)
/** Evaluations have a short distance. */
const look = () => s.clock.advance('1s')
/** Also runs the periodic evaluation. */
const later = async (hours: number) => {
  s.clock.jump(hours)
  await s.clock.advance('40s')
}

describe('a threshold', () => {
  it('is emitted once, with exactly the documented fields', async () => {
    s = await site({ upstream: costs(84, 2, 2, 1) })
    const { id: entity_id } = await s.key({ label: 'ci-bot' })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.1 })
    await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 1 })
    await s.spend()
    await look()
    expect(s.history).toEqual([])
    await s.spend()
    await look()
    await s.spend()
    await look()
    expect(s.history).toEqual([
      {
        type: 'budget.threshold_crossed',
        orgId: null,
        data: {
          budget_id: id,
          scope: 'org',
          entity_id: null,
          entity_label: null,
          window: 'daily',
          window_start: '2026-11-21T00:00:00.000Z',
          window_end: '2026-11-22T00:00:00.000Z',
          limit_usd: 0.1,
          spend_usd: 0.086,
          remaining_usd: 0.014,
          percent_used: expect.closeTo(86),
          threshold_percent: 85,
          triggering_request_id: s.t.settled[1]?.ctx.id,
          occurred_at: expect.stringMatching(/^2026-11-21T12:00:/),
          dedup_key: `${id}:85`,
        },
      },
    ])
  })

  it('of 85 and of 95 are both history when one request passes both', async () => {
    s = await site({ upstream: costs(96) })
    const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 0.1 })
    await s.spend()
    await look()
    expect(types()).toEqual([`budget.threshold_crossed ${id}:85`, `budget.threshold_crossed ${id}:95`])
    for (const { data } of s.history) {
      expect(data).not.toHaveProperty('window_start')
      expect(data).not.toHaveProperty('window_end')
    }
  })

  it('that is passed again after an increase is history again, a day after the last time', async () => {
    s = await site({ upstream: costs(90, 0.1) })
    const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 0.1 })
    await s.spend()
    await look()
    expect(types()).toEqual([`budget.threshold_crossed ${id}:85`])
    const expires_at = new Date(NOON + 3_600_000).toISOString()
    await s.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 1, expires_at })
    await later(0)
    // The increase has ended: the threshold is passed again, but within a day.
    await later(2)
    expect(s.history).toHaveLength(1)
    await later(24)
    expect(types()).toEqual([`budget.threshold_crossed ${id}:85`, `budget.threshold_crossed ${id}:85`])
    expect(s.history[1]?.data).not.toHaveProperty('triggering_request_id')
  })

  it('of each window is history, but not twice within a day', async () => {
    s = await site({ upstream: costs(90) })
    const { id } = await s.budget({ scope: 'org', window: 'hourly', hard_limit_usd: 0.1 })
    for (let hour = 0; hour < 3; hour++) {
      await s.spend()
      await look()
      await later(1)
    }
    expect(types()).toEqual([`budget.threshold_crossed ${id}:85`])
    await later(24)
    await s.spend()
    await look()
    expect(types()).toEqual([`budget.threshold_crossed ${id}:85`, `budget.threshold_crossed ${id}:85`])
  })

  it('of a budget of 0 or of one that is disabled is none', async () => {
    s = await site()
    await s.budget({ ...org, hard_limit_usd: 0 })
    await s.budget({ scope: 'org', window: 'weekly', hard_limit_usd: 0.0001, enabled: false })
    await later(0)
    expect(s.history).toEqual([])
  })
})

describe('a refusal', () => {
  it('is history as `budget.crossed`, once in a day, with the request that was refused', async () => {
    s = await site()
    const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 0.00001 })
    expect([await s.spend(), await s.spend(), await s.spend()]).toEqual([200, 402, 402])
    await look()
    const crossed = () => s.history.filter(({ type }) => type === 'budget.crossed')
    expect(crossed()).toHaveLength(1)
    expect(crossed()[0]?.data).toMatchObject({
      budget_id: id,
      dedup_key: `${id}:100`,
      limit_usd: 0.00001,
      spend_usd: 0.001,
      remaining_usd: -0.00099,
      triggering_request_id: s.t.settled[1]?.ctx.id,
    })
    expect(crossed()[0]?.data).not.toHaveProperty('threshold_percent')
    await later(23)
    expect(await s.spend()).toBe(402)
    await look()
    expect(crossed()).toHaveLength(1)
    await later(1)
    expect(await s.spend()).toBe(402)
    await look()
    expect(crossed()).toHaveLength(2)
  })

  it('is counted by whose budget refused', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.0000001' } })
    await s.spend({ max_tokens: 100 }, { 'x-session-id': 'a' })
    await s.budget({ ...org, hard_limit_usd: 0 })
    await s.spend()
    await s.spend()
    const metrics = await (await s.t.fetch('/metrics')).text()
    expect(metrics).toContain('gateway_budget_rejections_total{scope="org"} 2')
    expect(metrics).toContain('gateway_budget_rejections_total{scope="session"} 1')
  })
})

describe('a projection', () => {
  it('is history when ten requests and a tenth of the window say that the limit will be passed', async () => {
    s = await site({ now: Date.UTC(2026, 10, 21, 1), upstream: costs(2) })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.1 })
    for (let i = 0; i < 9; i++) await s.spend()
    // A tenth of the window has passed, with only nine requests.
    await later(2)
    expect(s.history).toEqual([])
    await s.spend()
    await look()
    expect(types()).toEqual([`budget.projected_exceeded ${id}:100`])
    expect(s.history[0]?.data).toMatchObject({ spend_usd: 0.02, limit_usd: 0.1, percent_used: 20 })
    expect(s.history[0]?.data).not.toHaveProperty('threshold_percent')
    await s.spend()
    await later(1)
    expect(s.history).toHaveLength(1)
  })

  it('is not history early in the window, nor when it stays below the limit, nor when that is passed already', async () => {
    s = await site({ now: Date.UTC(2026, 10, 21, 1), upstream: costs(...Array.from({ length: 13 }, () => 2), 20) })
    await s.budget({ ...org, hard_limit_usd: 0.03 })
    await s.budget({ scope: 'org', window: 'weekly', hard_limit_usd: 1 })
    for (let i = 0; i < 15; i++) await s.spend()
    await look()
    await later(2)
    expect(types().filter((type) => type.startsWith('budget.projected'))).toEqual([])
  })
})

describe('the outbox', () => {
  /** Listed before the preset, because the first provider of a service wins. */
  const outbox = (works: () => boolean) =>
    definePlugin({
      name: 'test-outbox',
      migrations: [{ id: '001', up: 'CREATE TABLE test_outbox (type TEXT NOT NULL, dedup TEXT NOT NULL, data TEXT NOT NULL)' }],
      setup(gateway) {
        gateway.provide('outbox', {
          statements({ type, data, dedup }) {
            const row = [type, `${dedup?.key} ${dedup?.ttlMs}`, JSON.stringify(data)]
            const table = sql.id(works() ? 'test_outbox' : 'test_nowhere')
            return [{ sql: sql`INSERT INTO ${table} (type, dedup, data) VALUES ${sql.values([row])}` }]
          },
          publish: async () => {},
        })
      },
    })()

  it('gets an event in the transaction that remembers it: both or none, and never twice', async () => {
    let works = false
    s = await site({ config: { plugins: [outbox(() => works), ...preset()] }, upstream: costs(90) })
    const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 0.1 })
    const queued = () => s.inside.db.all<{ type: string; dedup: string; data: string }>(sql`SELECT * FROM test_outbox`)
    const states = () => s.inside.db.all(sql`SELECT * FROM budgets_states WHERE above = 1`)
    await s.spend()
    await look()
    expect([await queued(), await states(), s.history]).toEqual([[], [], []])
    works = true
    await later(0)
    const [event, ...others] = await queued()
    expect(others).toEqual([])
    expect(event).toMatchObject({ type: 'budget.threshold_crossed', dedup: `${id}:85 86400000` })
    expect(s.history).toHaveLength(1)
    expect(JSON.parse(event?.data ?? '')).toEqual(s.history[0]?.data)
    expect(await states()).toHaveLength(1)
    await later(0.1)
    expect(await queued()).toHaveLength(1)
  })
})

describe('metrics', () => {
  const gauges = async () =>
    (await (await s.t.fetch('/metrics')).text())
      .split('\n')
      .filter((line) => /^gateway_budget_(limit|spent|reserved|used)/.test(line))
      .map((line) => line.replace('gateway_budget_', ''))

  it('show each budget by its id, and above 200 of them sums by scope', async () => {
    s = await site({ upstream: costs(20) })
    await s.budget({ ...org, hard_limit_usd: 0.1 })
    await s.spend()
    await look()
    expect(await gauges()).toEqual([
      'limit_usd{budget="1",scope="org"} 0.1',
      'spent_usd{budget="1",scope="org"} 0.02',
      'reserved_usd{budget="1",scope="org"} 0',
      'used_ratio{budget="1",scope="org"} 0.2',
    ])
    for (let made = 0; made < 200; made++) {
      const { id: entity_id } = await s.key()
      await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 1 })
    }
    expect((await gauges()).filter((line) => line.startsWith('limit'))).toEqual([
      'limit_usd{budget="all",scope="org"} 0.1',
      'limit_usd{budget="all",scope="key"} 200',
    ])
  })
})

for (const [name, why, open] of SITES) {
  describe.skipIf(why !== null)(`replicas over ${name}`, () => {
    it('tell everything once, together, and one that starts later tells what nobody has', async () => {
      const { env, end } = await open()
      const clock = wallClock()
      s = await site({ env, ports: { clock }, upstream: costs(48) })
      const other = await site({ env, ports: { clock }, upstream: costs(48) })
      const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 0.1 })
      await whileTimePasses(clock, async () => (await other.shown(id)).hard_limit_usd).toBe(0.1)
      // Each books one half; both see the sum.
      await Promise.all([s.spend(), other.spend()])
      await expect.poll(async () => (await s.shown(id)).spend_usd).toBe(0.096)
      await Promise.all([s.spend({ max_tokens: 1000 }), other.spend({ max_tokens: 1000 })])
      const both = () => [...types(), ...types(other)].sort()
      const all = [`budget.crossed ${id}:100`, `budget.threshold_crossed ${id}:85`, `budget.threshold_crossed ${id}:95`]
      await whileTimePasses(clock, both).toEqual(all)
      // Later evaluations emit nothing more.
      for (let step = 0; step < 5; step++) {
        await clock.advance('10s')
        await new Promise((resolve) => setTimeout(resolve, 20))
        await turns()
      }
      expect(both()).toEqual(all)
      await other.close()
      // A process died between a booking and its evaluation.
      const late = await s.budget({ ...org, hard_limit_usd: 0.2 })
      await s.ledger.restate(s.inside.db, { name: `budget:${late.id}`, windowStart: Date.UTC(2026, 10, 21) }, 180_000_000)
      const history = s.history.length
      const again = await site({ env, ports: { clock } })
      await expect.poll(() => types(again)).toEqual([`budget.threshold_crossed ${late.id}:85`])
      expect(s.history).toHaveLength(history)
      await again.close()
      await s.close()
      await end()
    })
  })
}

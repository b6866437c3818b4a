// Budgets that cannot be verified, checks before any cache, and that a process's memory alone never refuses a request.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { fileSpool } from '../../../adapters/stores/spool.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Counters } from '../../../core/types/ports/ports.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type WatchedDatabase, watchedDatabase } from '../../support/watched-database.ts'
import { bearer, errorOf } from '../keys/support.ts'
import { org, type Site, site, turns, used, wallClock } from './support.ts'

let s: Site
const cleaning: (() => Promise<void>)[] = []
afterEach(async () => {
  await s.close()
  for (const clean of cleaning.splice(0).reverse()) await clean()
})

async function withDatabase(env: Record<string, string> = {}, ports: object = {}): Promise<WatchedDatabase> {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-budgets-'))
  cleaning.push(async () => rmSync(dir, { recursive: true, force: true }))
  const db = watchedDatabase(await openDatabase(`sqlite:${join(dir, 'gateway.db')}`, '.'))
  cleaning.push(() => db.close())
  s = await site({ env, ports: { db, spool: fileSpool(join(dir, 'spool')), ...ports } })
  return db
}

/** Advances the clock until the attempts of a commit are over. */
async function advancing<T>(asked: Promise<T>): Promise<T> {
  let done = false
  void asked.finally(() => {
    done = true
  })
  while (!done) await s.clock.advance(100)
  return asked
}

describe('while the database does not answer', () => {
  it('requests go on, it is said once, and what they cost is booked when it is back', async () => {
    const log = recordingLog()
    const db = await withDatabase({}, { log })
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    expect(await s.spend()).toBe(200)
    db.away = true
    for (let i = 0; i < 3; i++) expect((await advancing(s.ask({ max_tokens: 50 }))).status).toBe(200)
    const said = log.lines.filter(({ message }) => message === 'budgets.unverified')
    expect(said).toHaveLength(1)
    await advancing(s.t.untilSettled(4))
    db.away = false
    expect(await s.spend()).toBe(200)
    await turns()
    await expect.poll(async () => (await s.shown(id)).spend_usd).toBe(0.005)
    expect((await s.shown(id)).reserved_usd).toBe(0)
  })

  it('they are 503 with GATEWAY_BUDGET_FAIL_CLOSED, but only where a budget applies', async () => {
    const db = await withDatabase({ BUDGET_FAIL_CLOSED: 'true' })
    const { id: entity_id, key } = await s.key()
    await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 1 })
    expect(await s.spend({}, bearer(key))).toBe(200)
    db.away = true
    // First the amounts are known, so only the reservation fails; then a new window has no known amounts.
    for (const hours of [0, 13]) {
      s.clock.jump(hours)
      const refused = await advancing(s.ask({}, bearer(key)))
      expect(refused.status).toBe(503)
      expect(await errorOf(refused)).toMatchObject({ type: 'api_error', code: 'storage_unavailable' })
    }
    expect((await advancing(s.ask())).status).toBe(200)
    expect(s.t.upstream.requests).toHaveLength(2)
    db.away = false
    await advancing(s.t.untilSettled(4))
    expect(await s.spend({}, bearer(key))).toBe(200)
  })
})

describe('while the shared store is answered for by a fallback', () => {
  it.each([
    ['true', 503],
    ['false', 200],
  ])('with GATEWAY_BUDGET_FAIL_CLOSED=%s a request with a budget is %d, one without is 200', async (failClosed, status) => {
    const clock = wallClock()
    const memory = memoryCounters(clock)
    let asked = 0
    const counters: Counters = {
      ...memory,
      async take(name, limit, cost) {
        if (name.startsWith('plugin:budgets:') || name.includes('budgets')) asked++
        return { ...(await memory.take(name, limit, cost)), degraded: true }
      },
      debit: memory.debit.bind(memory),
      acquire: memory.acquire.bind(memory),
      once: memory.once.bind(memory),
    }
    s = await site({ env: { BUDGET_FAIL_CLOSED: failClosed }, ports: { clock, counters } })
    expect(await s.spend()).toBe(200)
    expect(asked).toBe(0)
    await s.budget({ ...org, hard_limit_usd: 1 })
    expect(await s.spend()).toBe(status)
    expect(asked).toBe(status === 503 ? 1 : 0)
  })
})

describe('before any cache', () => {
  const cache = definePlugin({
    name: 'test-cache',
    setup(gateway) {
      gateway.hook('answer', (ctx) => {
        if (ctx.headers.get('x-hit') === null) return undefined
        ctx.cached = 'exact'
        const body = new TextEncoder().encode('{"id":"cached","object":"chat.completion","choices":[]}')
        return { kind: 'raw', status: 200, headers: ['content-type', 'application/json'], body }
      })
    },
  })
  const hit = { 'x-hit': '1' }

  it('a budget that is used up answers 402; one that is not lets the cache answer, and is not charged', async () => {
    s = await site({ plugins: [cache()] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.001 })
    expect(await s.spend({}, hit)).toBe(200)
    expect(await s.shown(id)).toMatchObject({ spend_usd: 0, reserved_usd: 0 })
    expect(await s.spend()).toBe(200)
    expect(await s.spend({}, hit)).toBe(402)
    expect(s.t.upstream.requests).toHaveLength(1)
  })

  it('that is so at once after a restart', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-budgets-'))
    cleaning.push(async () => rmSync(dir, { recursive: true, force: true }))
    s = await site({ env: { DATA_DIR: dir } })
    await s.budget({ ...org, hard_limit_usd: 0.001 })
    expect(await s.spend()).toBe(200)
    await s.close()
    s = await site({ env: { DATA_DIR: dir }, plugins: [cache()] })
    expect(await s.spend({}, hit)).toBe(402)
  })

  it('and where another process has used it up, within two seconds', async () => {
    s = await site({ plugins: [cache()] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.001 })
    expect(await s.spend({}, hit)).toBe(200)
    const account = { name: `budget:${id}`, windowStart: Date.UTC(2026, 10, 21) }
    await s.ledger.restate(s.inside.db, account, 1_000_000)
    await s.clock.advance('2s')
    expect(await s.spend({}, hit)).toBe(402)
  })
})

describe('what a process remembers', () => {
  it('refuses nobody: a budget that is not used up any more lets the next request through', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.001 })
    expect([await s.spend(), await s.spend()]).toEqual([200, 402])
    await s.ledger.restate(s.inside.db, { name: `budget:${id}`, windowStart: Date.UTC(2026, 10, 21) }, 0)
    expect(await s.spend()).toBe(200)
  })

  it('costs a request without budgets no query, and one with budgets none but its reservation', async () => {
    const db = await withDatabase()
    const reads = () => db.asked.filter((text) => text !== 'commit').length
    const { id: entity_id } = await s.key()
    await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 1 })
    const before = reads()
    await s.spend()
    expect(reads()).toBe(before)
    await s.budget({ ...org, hard_limit_usd: 1 })
    await s.spend()
    await s.clock.advance('1s')
    s.t.upstream.script({ ...used(0, 100), delayMs: 1000 })
    const known = db.asked.filter((text) => text.includes('ledger_accounts')).length
    const asked = s.ask()
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(3)
    expect(db.asked.filter((text) => text.includes('ledger_accounts'))).toHaveLength(known)
    await (await asked).arrayBuffer()
  })

  it('is shown with its projection, and looked at, without reading usage rows, of which no index knows its key', async () => {
    const db = await withDatabase()
    const { id: entity_id, key } = await s.key()
    const { id } = await s.budget({ scope: 'key', entity_id, window: 'daily', hard_limit_usd: 0.004 })
    const usage = () => db.asked.filter((text) => text.includes('ledger_usage') && text.includes('SELECT *')).length
    const before = usage()
    // Half of the day has passed: at twice the spending so far, the limit is exceeded from the third request on.
    for (let i = 0; i < 3; i++) await s.spend({ max_tokens: 1 }, bearer(key))
    await s.clock.advance('1s')
    expect((await s.shown(id)).projected_usd).toBe(null)
    expect(usage()).toBe(before)
  })
})

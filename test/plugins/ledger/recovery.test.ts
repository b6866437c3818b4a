// Open requests of a dead process are settled by another one, at any point and with any content.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { hang, reply } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { silentLog } from '../../../core/log.ts'
import type { Processes } from '../../../core/types/ports/processes.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import { balances, reserve } from '../../../plugins/ledger/accounts.ts'
import { insertDispatch } from '../../../plugins/ledger/dispatch.ts'
import { instances } from '../../../plugins/ledger/instances.ts'
import { migrations } from '../../../plugins/ledger/migrations.ts'
import { recovery, undo } from '../../../plugins/ledger/recovery.ts'
import type { Hold } from '../../../plugins/ledger/service.ts'
import { ENGINES } from '../../support/engines.ts'
import { type Books, openBooks, PRICE } from './support.ts'

const request = (id: string, at: number): RequestContext =>
  ({
    id,
    startedAt: at,
    userId: null,
    sessionId: null,
    costCenter: null,
    source: 'api',
    operation: 'chat',
    stream: true,
    requestedModel: 'p/m',
    virtualModel: null,
    bodyBytes: 40,
    principal: { orgId: null, keyId: null, label: null },
    plan: { targets: [{ provider: 'p', model: 'm' }] },
  }) as unknown as RequestContext

describe.each(ENGINES)('$name', ({ missing, with: withEngine }) => {
  it.skipIf(missing !== null)('a dead process is found behind many requests of others that live', async () => {
    await withEngine('ledger', migrations, async (db) => {
      const clock = fakeClock()
      const [living, dead, own] = [instances(db, clock), instances(db, clock), instances(db, clock)]
      await dead.beat()
      await clock.advance('91s')
      await living.beat()
      const hold: Hold = {
        name: 'a',
        windowStart: 0,
        amountNano: 500,
        limitNano: 1000,
        refuse: () => new Error('It does not fit.'),
      }
      for (let i = 0; i < 450; i++)
        await db.commit([[insertDispatch(living.bootId, request(`req_0${String(i).padStart(4, '0')}`, clock.now()), [], 40)]])
      await db.commit([[...reserve('req_1', hold, clock.now()), insertDispatch(dead.bootId, request('req_1', 0), [hold], 40)]])
      const price = () => ({ price: () => ({ costNano: 70, chargeNano: 70, ref: 'x' }) })
      expect(await recovery({ db, clock, log: silentLog }, own, price).sweep()).toBe(1)
      expect(await balances(db, [hold])).toMatchObject([{ spentNano: 70, reservedNano: 0 }])
      expect(await db.get(sql`SELECT COUNT(*) AS n FROM ledger_dispatch WHERE swept_at IS NULL`)).toEqual({ n: 450 })
    })
  })
})

it('a process of this machine is dead as soon as it does not run, and one of another machine after its silence', async () => {
  const { missing, with: withEngine } = ENGINES[0] as (typeof ENGINES)[number]
  expect(missing).toBeNull()
  await withEngine('ledger', migrations, async (db) => {
    const clock = fakeClock()
    const [ended, running, elsewhere] = [instances(db, clock), instances(db, clock), instances(db, clock)]
    for (const boot of [ended, running, elsewhere]) await boot.beat()
    await db.run(sql`UPDATE ledger_instances SET pid = 4001 WHERE boot_id = ${ended.bootId}`)
    await db.run(sql`UPDATE ledger_instances SET pid = 4002 WHERE boot_id = ${running.bootId}`)
    await db.run(sql`UPDATE ledger_instances SET pid = 4001, host = 'other' WHERE boot_id = ${elsewhere.bootId}`)
    const deadNow = async (processes?: Processes) => {
      const isDead = await instances(db, clock, processes).dead()
      return [ended, running, elsewhere].map(({ bootId }) => isDead(bootId, clock.now()))
    }
    expect(await deadNow({ runs: (pid) => pid !== 4001 })).toEqual([true, false, false])
    expect(await deadNow()).toEqual([false, false, false])
  })
})

describe.each(ENGINES)('own requests that are over, on $name', ({ missing, with: withEngine }) => {
  it.skipIf(missing !== null)('are settled when they were seen twice; those never sent cost nothing; others stay', async () => {
    await withEngine('ledger', migrations, async (db) => {
      const clock = fakeClock()
      const boot = instances(db, clock)
      await boot.beat()
      const hold: Hold = {
        name: 'a',
        windowStart: 0,
        amountNano: 100,
        limitNano: 1000,
        refuse: () => new Error('It does not fit.'),
      }
      for (const id of ['req_lives', 'req_lost', 'req_unsent'])
        await db.commit([[...reserve(id, hold, clock.now()), insertDispatch(boot.bootId, request(id, clock.now()), [hold], 40)]])
      const unsent = new Set(['req_unsent'])
      const price = () => ({ price: () => ({ costNano: 70, chargeNano: 70, ref: 'x' }) })
      const { sweep } = recovery({ db, clock, log: silentLog }, boot, price, { living: () => ['req_lives'], unsent })
      expect(await sweep()).toBe(0)
      expect(await balances(db, [hold])).toMatchObject([{ spentNano: 0, reservedNano: 300 }])
      await clock.advance('31s')
      expect(await sweep()).toBe(0)
      expect(await balances(db, [hold])).toMatchObject([{ spentNano: 0, reservedNano: 200 }])
      expect([...unsent]).toEqual([])
      expect(await sweep()).toBe(1)
      expect(await balances(db, [hold])).toMatchObject([{ spentNano: 70, reservedNano: 100, requests: 1 }])
      expect(await sweep()).toBe(0)
    })
  })

  it.skipIf(missing !== null)('are held once, however often their unit is committed', async () => {
    await withEngine('ledger', migrations, async (db) => {
      const hold: Hold = {
        name: 'a',
        windowStart: 0,
        amountNano: 600,
        limitNano: 1000,
        refuse: () => new Error('It does not fit.'),
      }
      const unit = (id: string) => [...reserve(id, hold, 0), insertDispatch('boot', request(id, 0), [hold], 40)]
      for (let time = 0; time < 3; time++) expect(await db.commit([unit('req_1')])).toEqual([{ ok: true }])
      expect(await db.commit([unit('req_2')])).toMatchObject([{ ok: false }])
      expect(await balances(db, [hold])).toMatchObject([{ reservedNano: 600 }])
      for (let time = 0; time < 3; time++) await db.atomic(undo('req_1', [hold]))
      expect(await balances(db, [hold])).toMatchObject([{ spentNano: 0, reservedNano: 0, requests: 0 }])
    })
  })
})

describe('a request with an image of two megabytes', () => {
  let books: Books
  afterEach(() => books.gateway.close())

  it('is booked as an image when its process dies, not as a text of that length', async () => {
    const clock = fakeClock()
    books = await openBooks({ upstream: [hang()], ports: { clock } })
    const url = `data:image/png;base64,${'A'.repeat(2_000_000)}`
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ]
    const server = await books.gateway.listen()
    const controller = new AbortController()
    const asking = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hold': 'a 20000/100000' },
      body: JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content }] }),
      signal: controller.signal,
    }).catch(() => null)
    await expect.poll(() => books.gateway.upstream.requests.length).toBe(1)
    await books.inside.db.run(sql`UPDATE ledger_dispatch SET boot_id = 'of a process that is gone', at = 0`)
    await clock.advance('91s')
    const [row] = await books.rows()
    expect(row).toMatchObject({ interrupted: true, status: 502 })
    expect(row?.tokens.input).toBeGreaterThanOrEqual(1600)
    expect(row?.tokens.input).toBeLessThan(1700)
    expect(await books.balance('a')).toEqual({ spent: (row?.tokens.input ?? 0) * PRICE.input, reserved: 0 })
    controller.abort()
    await asking
    await books.gateway.untilSettled()
  })
})

describe('a fusion whose process dies', () => {
  let books: Books
  afterEach(() => books.gateway.close())

  it('is booked with what its panel answered and what its judge had said', async () => {
    const clock = fakeClock()
    const panel = reply({ text: 'Panel.', usage: { input: 1000, output: 500 } })
    books = await openBooks({
      upstream: [panel, panel, reply({ text: 'x'.repeat(400) }, { stallAfter: 2 })],
      ports: { clock },
    })
    const targets = ['chat/a', 'chat/b']
    await books.gateway.post('/api/virtual-models', { name: 'fu', strategy: 'fusion', targets, config: { judge: 'chat/j' } })
    const server = await books.gateway.listen()
    const controller = new AbortController()
    const answering = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hold': 'a 50000/100000' },
      body: JSON.stringify({ model: 'fu', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
      signal: controller.signal,
    })
    const reader = (answering.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    // One piece of four bytes of the judge has arrived.
    const output = 500 + 500 + 1
    const written = async () => {
      await clock.advance('2s')
      const row = await books.inside.db.get<{ progress: string | null }>(sql`SELECT progress FROM ledger_dispatch`)
      return (JSON.parse(row?.progress ?? '{}') as { output?: number }).output
    }
    await expect.poll(written).toBe(output)
    await books.inside.db.run(sql`UPDATE ledger_dispatch SET boot_id = 'of a process that is gone', at = 0`)
    await clock.advance('91s')
    const [row, ...others] = await books.rows()
    expect(others).toEqual([])
    expect(row).toMatchObject({ interrupted: true, status: 502, virtualModel: 'fu' })
    expect(row?.tokens.input).toBeGreaterThanOrEqual(2000)
    expect(row?.tokens.output).toBe(output)
    const spent = (row?.tokens.input ?? 0) * PRICE.input + output * PRICE.output
    expect(await books.balance('a')).toEqual({ spent, reserved: 0 })

    // It was alive after all: its own settlement counts, and nothing is booked twice.
    controller.abort()
    await reader.read().catch(() => {})
    await books.gateway.untilSettled()
    const rows = await books.rows()
    const charged = rows.reduce((sum, { chargeNano }) => sum + (chargeNano ?? 0), 0)
    expect(rows.map(({ interrupted }) => interrupted)).not.toContain(true)
    expect(await books.balance('a')).toEqual({ spent: charged, reserved: 0 })
  })
})

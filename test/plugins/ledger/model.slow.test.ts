// The ledger compared with a plain map: for any order and repetition of events, spent and reserved amounts equal the model, on both
// engines.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { silentLog } from '../../../core/log.ts'
import type { PriceService } from '../../../core/services.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import { balances, balancesOf, book, reserve } from '../../../plugins/ledger/accounts.ts'
import { checkpoint, insertDispatch, removeDispatch } from '../../../plugins/ledger/dispatch.ts'
import { type Instances, instances } from '../../../plugins/ledger/instances.ts'
import { migrations } from '../../../plugins/ledger/migrations.ts'
import { progressOf, recovery } from '../../../plugins/ledger/recovery.ts'
import type { Hold, UsageRow } from '../../../plugins/ledger/service.ts'
import { usageReader } from '../../../plugins/ledger/usage-reader.ts'
import { insertRows, NO_TOKENS } from '../../../plugins/ledger/usage-rows.ts'
import { ENGINES } from '../../support/engines.ts'

const ACCOUNTS = ['org', 'vm', 'key'] as const
type Name = (typeof ACCOUNTS)[number]

interface Account {
  spent: number
  reserved: number
}

interface Request {
  readonly id: string
  readonly holds: readonly { name: Name; window: number; amount: number }[]
  state: 'open' | 'swept' | 'settled'
  /** Amount booked for it so far. */
  booked: number
  progress: number
}

interface Model {
  readonly accounts: Map<string, Account>
  readonly limits: Record<Name, number>
  readonly requests: Request[]
  window: number
  price: number
}

interface Real {
  readonly db: Database
  readonly clock: FakeClock
  readonly prefix: string
  boot: Instances
}

const REFUSED = new Error('It does not fit.')
const WINDOW_MS = 3_600_000
const keyOf = (name: Name, window: number) => `${name} ${window}`

function accountOf(model: Model, name: Name, window: number): Account {
  const key = keyOf(name, window)
  const found = model.accounts.get(key) ?? { spent: 0, reserved: 0 }
  model.accounts.set(key, found)
  return found
}

function holdsOf(real: Real, model: Model, names: readonly Name[], amount: number): Hold[] {
  return names.map((name) => ({
    name: `${real.prefix}${name}`,
    windowStart: model.window * WINDOW_MS,
    amountNano: amount,
    limitNano: model.limits[name],
    refuse: () => REFUSED,
  }))
}

async function compare(model: Model, real: Real): Promise<void> {
  const found = await balancesOf(real.db, real.prefix, 0)
  const stored = Object.fromEntries(
    found.map(({ name, windowStart, spentNano, reservedNano }) => [
      `${name.slice(real.prefix.length)} ${windowStart / WINDOW_MS}`,
      { spent: spentNano, reserved: reservedNano },
    ]),
  )
  const expected = Object.fromEntries(
    [...model.accounts].filter(([key, { spent, reserved }]) => key in stored || spent + reserved),
  )
  expect(stored).toEqual(expected)
}

type Command = fc.AsyncCommand<Model, Real>

/** A request reserves amounts on some accounts. */
class Reserve implements Command {
  readonly names: readonly Name[]
  readonly amount: number
  constructor(names: readonly Name[], amount: number) {
    this.names = names
    this.amount = amount
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    const id = `${real.prefix}r${model.requests.length}`
    const holds = holdsOf(real, model, this.names, this.amount)
    const unit = [
      ...holds.flatMap((hold) => reserve(id, hold, real.clock.now())),
      insertDispatch(real.boot.bootId, ctxOf(id, real), holds, 40),
    ]
    const [result] = await real.db.commit([unit])
    const fits = this.names.every((name) => {
      const { spent, reserved } = model.accounts.get(keyOf(name, model.window)) ?? { spent: 0, reserved: 0 }
      return spent < model.limits[name] && spent + reserved + this.amount <= model.limits[name]
    })
    expect(result?.ok).toBe(fits)
    if (!fits) return
    for (const name of this.names) accountOf(model, name, model.window).reserved += this.amount
    const held = this.names.map((name) => ({ name, window: model.window, amount: this.amount }))
    model.requests.push({ id, holds: held, state: 'open', booked: 0, progress: 0 })
    await compare(model, real)
  }
  toString = () => `reserve ${this.amount} of ${this.names}`
}

/** The request ends or fails: its cost is booked, also for late and repeated ends. */
class Settle implements Command {
  readonly which: number
  readonly cost: number
  readonly times: number
  constructor(which: number, cost: number, times: number) {
    this.which = which
    this.cost = cost
    this.times = times
  }
  check = (model: Readonly<Model>) => model.requests.length > 0
  async run(model: Model, real: Real): Promise<void> {
    const request = model.requests[this.which % model.requests.length] as Request
    const unit = settlement(real, request, this.cost)
    for (let i = 0; i < this.times; i++) for (const result of await real.db.commit([unit])) expect(result).toEqual({ ok: true })
    if (request.state !== 'settled') {
      for (const { name, window, amount } of request.holds) {
        const account = accountOf(model, name, window)
        account.spent += this.cost - request.booked
        if (request.state === 'open') account.reserved -= amount
      }
      request.state = 'settled'
    }
    await compare(model, real)
  }
  toString = () => `settle ${this.which} for ${this.cost} x${this.times}`
}

class Progress implements Command {
  readonly which: number
  readonly tokens: number
  constructor(which: number, tokens: number) {
    this.which = which
    this.tokens = tokens
  }
  check = (model: Readonly<Model>) => model.requests.length > 0
  async run(model: Model, real: Real): Promise<void> {
    const request = model.requests[this.which % model.requests.length] as Request
    await real.db.atomic([checkpoint(request.id, progressOf(pricesOf(model), CANDIDATE, null, 0, this.tokens))])
    if (request.state === 'open') request.progress = this.tokens * model.price
  }
  toString = () => `progress ${this.which} to ${this.tokens}`
}

/** The process dies; the next one finds its open requests. */
class Crash implements Command {
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    await real.boot.beat()
    real.boot = instances(real.db, real.clock)
    await real.clock.advance(91_000)
    const open = model.requests.filter(({ state }) => state === 'open')
    const { sweep } = recovery({ db: real.db, clock: real.clock, log: silentLog }, real.boot, () => pricesOf(model))
    expect(await sweep()).toBe(open.length)
    for (const request of open) {
      request.state = 'swept'
      request.booked = request.progress
      for (const { name, window, amount } of request.holds) {
        const account = accountOf(model, name, window)
        account.spent += request.booked
        account.reserved -= amount
      }
    }
    await compare(model, real)
  }
  toString = () => 'crash'
}

class Change implements Command {
  readonly what: string
  readonly apply: (model: Model) => void
  constructor(what: string, apply: (model: Model) => void) {
    this.what = what
    this.apply = apply
  }
  check = () => true
  async run(model: Model): Promise<void> {
    this.apply(model)
  }
  toString = () => this.what
}

const CONNECTION = {
  ...{ id: '1', provider: 'p', baseUrl: null, label: '', wireFormat: null, allowedModels: [], priority: 0 },
  ...{ maxInflight: null, proxyUrl: null, headers: {}, defaultModel: null },
}

const CANDIDATE = { target: { provider: 'p', model: 'm', connectionId: null, weight: 1 }, connection: CONNECTION }

const pricesOf = ({ price }: Model): PriceService => ({
  price: ({ usage }) => ({ costNano: usage.outputTotal * price, chargeNano: usage.outputTotal * price, ref: 'test' }),
})

function ctxOf(id: string, { clock }: Real): RequestContext {
  const principal = { keyId: 1, label: 'k', orgId: null, allowedModels: null }
  const plan = { targets: [{ provider: 'p', model: 'm', connectionId: null, weight: 1 }], strategy: 'direct', virtualModel: null }
  return {
    ...{ id, startedAt: clock.now(), principal, plan, userId: null, sessionId: null, costCenter: null, source: 'api' },
    ...{ operation: 'chat', requestedModel: 'p/m', virtualModel: null, stream: true, bodyBytes: 0 },
  } as unknown as RequestContext
}

function settlement(real: Real, { id, holds }: Request, cost: number) {
  const now = real.clock.now()
  const booked = holds.map(({ name, window, amount }) =>
    book(id, { name: `${real.prefix}${name}`, windowStart: window * WINDOW_MS, amountNano: amount }, cost, now),
  )
  return [...booked, insertRows([rowOf(real, id, cost)]), removeDispatch(id)]
}

function rowOf({ clock }: Real, requestId: string, cost: number): UsageRow {
  return {
    ...{ requestId, step: 0, orgId: null, at: clock.now(), keyId: 1, keyLabel: 'k', userId: null, sessionId: null },
    ...{
      costCenter: null,
      source: 'api',
      operation: 'chat',
      provider: 'p',
      connectionId: '1',
      model: 'm',
      requestedModel: 'p/m',
    },
    ...{ virtualModel: null, stream: false, status: 200, latencyMs: 1, firstByteMs: null, tokens: NO_TOKENS, mediaUnits: 0 },
    ...{ estimated: false, costNano: cost, chargeNano: cost, priceRef: null, cached: null, freePool: false, interrupted: false },
  }
}

const money = fc.integer({ min: 0, max: 400 })
const index = fc.nat(50)
const COMMANDS = [
  fc.tuple(fc.subarray([...ACCOUNTS], { minLength: 1 }), money).map(([names, amount]) => new Reserve(names, amount)),
  fc.tuple(fc.subarray([...ACCOUNTS], { minLength: 1 }), money).map(([names, amount]) => new Reserve(names, amount)),
  fc.tuple(index, money, fc.integer({ min: 1, max: 3 })).map(([which, cost, times]) => new Settle(which, cost, times)),
  fc.tuple(index, fc.nat(100)).map(([which, tokens]) => new Progress(which, tokens)),
  fc.constant(new Crash()),
  fc.tuple(fc.constantFrom(...ACCOUNTS), fc.nat(2000)).map(
    ([name, limit]) =>
      new Change(`limit of ${name} ${limit}`, (model) => {
        model.limits[name] = limit
      }),
  ),
  fc.constant(
    new Change('next window', (model) => {
      model.window++
    }),
  ),
  fc.integer({ min: 1, max: 9 }).map(
    (price) =>
      new Change(`price ${price}`, (model) => {
        model.price = price
      }),
  ),
]

describe.each(ENGINES)('$name', ({ name, missing, with: withEngine }) => {
  const runs = name === 'SQLite' ? 1700 : 300
  it.skipIf(missing !== null)(`${runs} histories end as the model says, and leave nothing reserved`, { timeout: 900_000 }, () =>
    withEngine('ledger', migrations, async (db) => {
      let histories = 0
      const property = fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 50, size: 'max' }), async (commands) => {
        const clock = fakeClock()
        const real: Real = { db, clock, prefix: `h${++histories}:`, boot: instances(db, clock) }
        const model: Model = { accounts: new Map(), limits: { org: 1500, vm: 1000, key: 700 }, requests: [], window: 1, price: 3 }
        await fc.asyncModelRun(() => ({ model, real }), commands)
        // Finally everything open ends, and the spent amount equals the rows.
        for (const request of model.requests)
          if (request.state !== 'settled') await new Settle(model.requests.indexOf(request), 7, 1).run(model, real)
        for (const { reservedNano } of await balancesOf(db, real.prefix, 0)) expect(reservedNano).toBe(0)
      })
      await fc.assert(property, { numRuns: runs, seed: 20_261_121 })
      const { charged } = usageReader(db)
      expect((await charged(db, { since: 0, until: Number.MAX_SAFE_INTEGER })).nano).toBeGreaterThan(0)
      expect(await balances(db, [])).toEqual([])
    }),
  )
})

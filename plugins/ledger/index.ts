// The ledger: what requests may spend, what they spent, and what a crash left open. Each request writes twice, in a group commit: the
// trace with its reservations before the upstream call, the rows and accounts after the end.
import { z } from 'zod'
import { isInDoubt } from '../../core/db/storage-fault.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { LiveRequest } from '../../core/types/request/context.ts'
import { accountNames, balances, balancesOf, book, charge, dropAccounts, release, reserve, restate } from './accounts.ts'
import { unpricedFacts } from './attention.ts'
import { fits, forgetBefore, sumOf } from './caps.ts'
import { CHECKPOINT_MS, checkpoints } from './checkpoints.ts'
import { insertDispatch, knownOf, removeDispatch } from './dispatch.ts'
import { HEARTBEAT_MS, instances } from './instances.ts'
import { migrations } from './migrations.ts'
import { promptBytes } from './prompt-bytes.ts'
import { recovery, SWEEP_MS, undo } from './recovery.ts'
import { RETENTION_MS, retention } from './retention.ts'
import type { Account, Cap, Hold, LedgerService } from './service.ts'
import { type Trace, TraceEnd, Traces } from './traces.ts'
import { usageReader } from './usage-reader.ts'
import { bookedOf, InsertRows, insertRows, rowsOf } from './usage-rows.ts'

/** The ledger's state of a request. */
interface Entry {
  holds: readonly Hold[]
  caps: readonly Cap[]
  charges: readonly Account[]
  unavailable: ((error: Error) => void) | null
  /** The reservation is in the unit: a later one would not be written. */
  reserved: boolean
  /** The settlement is in the unit: a later charge would not be written. */
  settled: boolean
  /** The request was admitted: it has a trace, and its reservations are taken. */
  admitted: boolean
  /** The database did not confirm whether its trace and reservations were written. */
  inDoubt: boolean
  promptBytes: number
  /** The trace that shares a row with others; null: the request has a row of its own, or none. */
  trace: Trace | null
}

/** Provides the service `ledger`. */
export const ledger = definePlugin({
  name: 'ledger',
  config: z.strictObject({
    /** Older usage rows are deleted; 0 and below keep them. */
    usageRetentionDays: z.int().default(30).meta({ env: 'USAGE_RETENTION_DAYS' }),
  }),
  migrations,
  async setup(gateway, config) {
    const { db, clock, log } = gateway
    const prices = gateway.optional('prices')
    const entries = gateway.slot<Entry>()
    const living = instances(db, clock, gateway.use('processes'))
    const traces = db.dialect === 'sqlite' ? new Traces(living.bootId) : null
    const unsent = new Set<string>()
    const own = { living: () => idsOf(gateway.live()), unsent }
    const { sweep } = recovery({ db, clock, log }, living, prices, own)
    const told = new Set<Parameters<LedgerService['onBooked']>[0]>()
    const rows = gateway.metrics.tally('ledger_rows_total', 'Usage rows written.', ['kind'])
    const settled = rows.series('settled')
    const interrupted = rows.series('interrupted')

    const entryOf = (ctx: Parameters<typeof entries.get>[0]): Entry => {
      let entry = entries.get(ctx)
      if (entry === undefined) {
        entry = {
          holds: NONE,
          caps: NONE,
          charges: NONE,
          unavailable: null,
          reserved: false,
          settled: false,
          admitted: false,
          inDoubt: false,
          promptBytes: 0,
          trace: null,
        }
        entries.set(ctx, entry)
      }
      return entry
    }

    gateway.provide('ledger', {
      hold(ctx, holds, unavailable, caps = NONE) {
        const entry = entryOf(ctx)
        if (entry.reserved)
          throw new Error('ledger.hold() came too late: the reservation of this request is written. Call it in an `admit` hook.')
        entry.holds = entry.holds.length === 0 ? holds : [...entry.holds, ...holds]
        if (caps.length > 0) entry.caps = [...entry.caps, ...caps]
        const before = entry.unavailable
        entry.unavailable = (error) => {
          before?.(error)
          unavailable(error)
        }
      },
      charge(ctx, accounts) {
        const entry = entryOf(ctx)
        if (entry.settled)
          throw new Error(
            'ledger.charge() came too late: this request is booked. Call it in a `settle` hook of order `pre` or `normal`.',
          )
        entry.charges = [...entry.charges, ...accounts]
      },
      onBooked(fn) {
        told.add(fn)
        return () => void told.delete(fn)
      },
      balances,
      balancesOf,
      names: accountNames,
      drop: dropAccounts,
      sum: sumOf,
      forget: forgetBefore,
      restate: (tx, account, spentNano, requests) => restate(tx, account, spentNano, clock.now(), requests),
      usage: usageReader(db),
    })

    gateway.hook(
      'reserve',
      (ctx, unit) => {
        const entry = entryOf(ctx)
        entry.reserved = true
        if (ctx.operation === 'count_tokens') return
        const { holds } = entry
        const now = clock.now()
        for (const cap of entry.caps) unit.add(fits(ctx.id, cap))
        for (const hold of holds) unit.add(...reserve(ctx.id, hold, now))
        entry.promptBytes = holds.length === 0 ? ctx.bodyBytes + ctx.addedBytes : promptBytes(ctx)
        if (holds.length === 0 && traces !== null) {
          entry.trace = traces.begin(ctx.id, ctx.startedAt, knownOf(ctx, entry.promptBytes))
          unit.add(entry.trace)
        } else unit.add(insertDispatch(living.bootId, ctx, holds, entry.promptBytes))
        if (holds.length === 0) {
          // Do not wait: when the database is unavailable the request continues, and its end goes to the spool.
          entry.admitted = true
          unit.unavailable(() => {})
          return
        }
        unit.afterCommit(() => {
          entry.admitted = true
        })
        unit.unavailable((error) => {
          entry.inDoubt = isInDoubt(error)
          entry.unavailable?.(error)
          entry.admitted = true
        })
      },
      { order: 'post' },
    )

    gateway.hook(
      'settle',
      (ctx, outcome, unit) => {
        const entry = entries.get(ctx)
        if (entry !== undefined) entry.settled = true
        if (entry?.inDoubt === true && !entry.admitted) {
          if (unsent.size < MAX_UNSENT) unsent.add(ctx.id)
          unit.add(...undo(ctx.id, entry.holds))
          unit.afterCommit(() => void unsent.delete(ctx.id))
          return
        }
        // Internal calls are not admitted: they are booked on their own, or as steps of their caller.
        if (entry?.admitted !== true && outcome.cached === false && ctx.ingress !== null) return
        const usage = rowsOf(ctx, outcome)
        const accounts = entry === undefined ? NONE : [...entry.holds, ...entry.charges]
        if (accounts.length > 0) {
          const now = clock.now()
          const spent = bookedOf(outcome)
          // Without a row nothing would show that it was booked.
          for (const hold of (entry as Entry).holds)
            unit.add(usage.length > 0 ? book(ctx.id, hold, spent[hold.measure ?? 'charge'], now) : release(ctx.id, hold))
          if (usage.length > 0)
            for (const account of (entry as Entry).charges) unit.add(charge(ctx.id, account, spent.charge, now))
          unit.afterCommit(() => {
            // Written alone, because of the accounts.
            if (entry?.trace) traces?.leave(entry.trace)
            for (const fn of told) fn(accounts, ctx.id)
          })
        }
        if (usage.length > 0) unit.add(traces === null ? insertRows(usage) : new InsertRows(usage))
        if (entry?.admitted === true)
          unit.add(entry.trace === null ? removeDispatch(ctx.id) : new TraceEnd(entry.trace, usage.length > 0))
        settled.add(usage.length)
      },
      { order: 'post' },
    )

    gateway.hook('ready', async () => {
      await living.beat()
      interrupted.add(await sweep())
    })
    gateway.every('heartbeat', HEARTBEAT_MS, () => living.beat())
    gateway.every('sweep', SWEEP_MS, async () => interrupted.add(await sweep()))
    gateway.every(
      'checkpoints',
      CHECKPOINT_MS,
      checkpoints(
        { db, clock },
        () => gateway.live(),
        prices,
        (ctx) => {
          const entry = entries.get(ctx)
          return entry?.admitted === true && !entry.settled ? entry : null
        },
      ),
    )
    gateway.every('retention', RETENTION_MS, retention(db, clock, config.usageRetentionDays), { once: true })
    const { provider } = gateway.use('configuration')
    const isLocal = (id: string) => provider(id)?.answer !== undefined
    const silence = gateway.use('attention').contribute('ledger', unpricedFacts(db, clock, isLocal))
    return () => {
      silence()
      return living.leave().catch(() => {})
    }
  },
})

const NONE: readonly never[] = []
/** Above this number they are not remembered, and their traces are settled as interrupted. */
const MAX_UNSENT = 10_000

function* idsOf(live: Iterable<LiveRequest>): Iterable<string> {
  for (const { ctx } of live) yield ctx.id
}

export default ledger

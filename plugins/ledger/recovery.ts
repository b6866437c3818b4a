// Settles requests whose process died before it settled them. They are settled as interrupted, not only released: the upstream may have
// answered, so the usage at the last checkpoint is booked, at least the prompt.
import { accountOf } from '../../core/records/request-record.ts'
import type { PriceService } from '../../core/services.ts'
import type { Db, Statement } from '../../core/types/ports/db.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Candidate } from '../../core/types/request/context.ts'
import { bookInterrupted, release } from './accounts.ts'
import {
  type DispatchRow,
  forgetSwept,
  type HeldAmount,
  markSwept,
  ownDispatches,
  type Progress,
  removeDispatch,
  strayDispatches,
} from './dispatch.ts'
import type { Instances } from './instances.ts'
import { ownPacks, type PackRow, strayPacks, takePack } from './packs.ts'
import type { UsageRow } from './service.ts'
import { insertRows, NO_TOKENS, removeInterrupted } from './usage-rows.ts'

export const SWEEP_MS = 30_000
const BATCH = 200
/** Packs at a time; one has up to 200 traces. */
const PACKS = 50
/** More than the number of concurrent requests; otherwise the rest is checked later. */
const OWN_BATCH = 10_000
/** A process that was suspended for longer and continues then books its requests twice. */
const CORRECTABLE_MS = 7 * 86_400_000
const BYTES_PER_TOKEN = 4

type Traced = Pick<DispatchRow, 'request_id' | 'at' | 'facts' | 'progress'>

export interface Recovery {
  /** Returns the number of settled requests. */
  sweep(): Promise<number>
}

/** This process's own requests. */
export interface OwnRequests {
  living(): Iterable<string>
  /** Requests that were refused before the result of their dispatch write was known. */
  readonly unsent: Set<string>
}

// Traces of this process whose request is over: the answer to a commit was lost, or a settlement was. A trace must be found in two
// checks, so that a request that is just settling is left alone.
interface OwnStraySources {
  readonly clock: Pick<Clock, 'now'>
  /** Returns rows of this boot from before an instant, oldest first. */
  rows(before: number): Promise<readonly DispatchRow[]>
  /** Returns ids of running requests. */
  living(): Iterable<string>
  /** Returns whether the request was refused and never sent. */
  isUnsent(requestId: string): boolean
  release(row: DispatchRow): Promise<void>
  settle(row: DispatchRow): Promise<boolean>
}

/** A younger request may still wait for its first commit. */
const YOUNG_MS = 30_000

/** Returns the number of settled requests. */
function ownStrays({ clock, rows, living, isUnsent, release, settle }: OwnStraySources): () => Promise<number> {
  let suspects: ReadonlySet<string> = new Set()
  return async () => {
    const found = await rows(clock.now() - YOUNG_MS)
    if (found.length === 0) return 0
    const alive = new Set(living())
    const over = found.filter(({ request_id }) => !alive.has(request_id))
    let settled = 0
    for (const row of over) {
      if (isUnsent(row.request_id)) await release(row)
      else if (suspects.has(row.request_id) && (await settle(row))) settled++
    }
    suspects = new Set(over.map(({ request_id }) => request_id))
    return settled
  }
}

export function recovery(
  { db, clock, log }: { db: Db; clock: Clock; log: Logger },
  instances: Instances,
  prices: () => PriceService | undefined,
  own: OwnRequests = { living: () => [], unsent: new Set() },
): Recovery {
  /** Own packs that the last check found, by their stored traces: numbers are used again. */
  let suspects: ReadonlySet<string> = new Set()
  const sweepOwn = ownStrays({
    clock,
    rows: (before) => ownDispatches(db, instances.bootId, before, OWN_BATCH),
    living: own.living,
    isUnsent: (id) => own.unsent.has(id),
    async release({ request_id, holds }) {
      await db.atomic(undo(request_id, holds ?? []))
      own.unsent.delete(request_id)
    },
    settle: settleInterrupted,
  })
  return {
    async sweep() {
      let swept = 0
      // Page by page, because the first page may contain only requests of other live processes.
      for (let after: string | null = ''; after !== null; ) {
        const stray: DispatchRow[] = await strayDispatches(db, instances.bootId, after, BATCH)
        if (stray.length === 0) break
        const isDead = await instances.dead()
        for (const row of stray) if (isDead(row.boot_id, row.at) && (await settleInterrupted(row))) swept++
        after = stray.length < BATCH ? null : (stray.at(-1) as DispatchRow).request_id
      }
      swept += await sweepOwn()
      if (db.dialect === 'sqlite') swept += await sweepPacks()
      await forgetSwept(db, clock.now() - CORRECTABLE_MS)
      if (swept > 0)
        log.warn(
          `Settled ${swept} requests without a settlement: their process ended, or the database did not confirm its write.`,
        )
      return swept
    },
  }

  async function sweepPacks(): Promise<number> {
    let swept = 0
    const { bootId } = instances
    for (let after: readonly [string, number] | null = ['', 0]; after !== null; ) {
      const stray: PackRow[] = await strayPacks(db, bootId, after, PACKS)
      if (stray.length === 0) break
      const isDead = await instances.dead()
      for (const pack of stray) if (isDead(pack.boot_id, pack.at)) swept += await settlePack(pack)
      const last = stray.at(-1) as PackRow
      after = stray.length < PACKS ? null : [last.boot_id, last.seq]
    }
    // Running requests have long had a trace of their own. The pack of others must be found in two checks, as above.
    const found = await ownPacks(db, bootId, clock.now() - YOUNG_MS, PACKS)
    const before = suspects
    suspects = new Set(found.map(({ stored }) => stored))
    if (found.length === 0) return swept
    const alive = new Set(own.living())
    for (const pack of found)
      if (before.has(pack.stored) && !pack.requests.some(({ request_id }) => alive.has(request_id)))
        swept += await settlePack(pack)
    return swept
  }

  function settlePack(pack: PackRow): Promise<number> {
    const now = clock.now()
    return db.tx(async (tx) => {
      const open = await takePack(tx, pack)
      for (const traced of open) await tx.run(insertRows([interruptedRow({ ...traced, progress: null }, now)]).sql)
      return open.length
    })
  }

  async function settleInterrupted(row: DispatchRow): Promise<boolean> {
    const now = clock.now()
    const usage = interruptedRow(row, now)
    const { input, output } = usage.tokens
    const booked = { charge: usage.chargeNano ?? 0, shared_tokens: usage.freePool ? input + output : 0 }
    return db.tx(async (tx) => {
      if (!(await markSwept(tx, row.request_id, booked, now))) return false
      for (const hold of row.holds ?? []) await tx.run(bookInterrupted(hold, booked[hold.measure ?? 'charge'], now))
      await tx.run(insertRows([usage]).sql)
      return true
    })
  }

  function interruptedRow({ request_id, at, facts, progress }: Traced, now: number): UsageRow {
    const seen = progress ?? promptOnly(facts)
    return {
      requestId: request_id,
      step: 0,
      orgId: facts.orgId,
      at,
      keyId: facts.keyId,
      keyLabel: facts.keyLabel,
      userId: facts.userId,
      sessionId: facts.sessionId,
      costCenter: facts.costCenter,
      source: facts.source,
      operation: facts.operation,
      provider: seen?.provider ?? facts.provider,
      connectionId: progress?.connectionId ?? null,
      model: seen?.model ?? facts.model,
      requestedModel: facts.requestedModel,
      virtualModel: facts.virtualModel,
      stream: facts.stream,
      status: 502,
      latencyMs: Math.max(0, now - at),
      firstByteMs: null,
      tokens: { ...NO_TOKENS, input: seen?.input ?? 0, output: seen?.output ?? 0 },
      mediaUnits: 0,
      estimated: true,
      costNano: seen?.costNano ?? null,
      chargeNano: seen?.chargeNano ?? null,
      priceRef: null,
      cached: null,
      freePool: facts.shared === true,
      interrupted: true,
    }
  }

  function promptOnly(facts: DispatchRow['facts']): Progress | null {
    const { provider, model, promptBytes, operation, orgId, shared, free = false } = facts
    if (provider === null || model === null || operation === 'count_tokens') return null
    const target = {
      provider,
      model,
      connectionId: null,
      weight: 1,
      ...(shared === true ? { shared: { account: '', free } } : {}),
    }
    const candidate = { target, connection: { ...NOWHERE, provider } }
    return progressOf(prices(), candidate, orgId, Math.ceil(promptBytes / BYTES_PER_TOKEN), 0)
  }
}

/** Reverts the admission of a request that was never sent, whichever part of it reached the database. */
export function undo(requestId: string, holds: readonly HeldAmount[]): Statement[] {
  return [...holds.map((hold) => release(requestId, hold)), removeInterrupted(requestId), removeDispatch(requestId)]
}

export function progressOf(
  prices: PriceService | undefined,
  candidate: Candidate,
  orgId: number | null,
  input: number,
  output: number,
): Progress {
  const { connection, target } = candidate
  const { model, shared } = target
  const usage = {
    inputTotal: input,
    cacheRead: 0,
    cacheWrite: 0,
    outputTotal: output,
    total: input + output,
    estimated: true,
    raw: null,
  }
  const price = prices?.price({ connection, model, operation: 'chat', usage, orgId, shared }) ?? null
  return {
    provider: connection.provider,
    connectionId: accountOf(candidate),
    model,
    input,
    output,
    costNano: price?.costNano ?? null,
    chargeNano: price?.chargeNano ?? null,
  }
}

/** The selected account is not known any more. */
const NOWHERE: Connection = {
  id: '',
  provider: '',
  baseUrl: null,
  label: '',
  wireFormat: null,
  allowedModels: [],
  priority: 0,
  maxInflight: null,
  proxyUrl: null,
  headers: {},
  defaultModel: null,
}

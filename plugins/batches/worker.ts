// Runs the items of batches: each goes through the whole pipeline as the key that submitted it. Replicas share the items by leases.

import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import type { OwnCalls } from '../../core/types/plugin/own-calls.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { BatchRow, BatchStore, ItemRow } from './store.ts'

export interface WorkerParts {
  readonly store: BatchStore
  readonly calls: OwnCalls
  readonly clock: Clock
  readonly log: Logger
  readonly owner: string
  readonly leaseMs: number
  /** Aborts running items: they are given back. */
  readonly signal: AbortSignal
  batchOf(id: string): Promise<Pick<BatchRow, 'org_id' | 'key_id'> | undefined>
  open(row: ItemRow, orgId: number | null): Promise<string>
  seal(row: ItemRow, orgId: number | null, result: string): Promise<string>
}

/** Items that one process runs at a time, and those of one batch over all processes. */
const MOST_RUNNING = 16
const PER_BATCH = 4
/** An item whose process ended is tried once more. */
const MOST_CLAIMS = 2
/** The longest wait for a limit, ms. */
const LONGEST_WAIT_MS = 60_000

export function batchWorker({ store, calls, clock, log, owner, leaseMs, signal, batchOf, open, seal }: WorkerParts) {
  const running = new Set<Promise<void>>()
  // One listener for all items: Node warns about a signal with more than ten.
  const stops = new Set<AbortController>()
  signal.addEventListener('abort', () => {
    for (const stop of stops) stop.abort(signal.reason)
  })
  let working: Promise<void> = Promise.resolve()
  let again = false

  /** Returns when an own limit of the gateway made the item wait: ms. */
  function waitOf(status: number, retryAfter: string | null, code: unknown): number | null {
    const busy = status === 429 || (status === 503 && (code === 'overloaded' || code === 'shutting_down'))
    if (!busy) return null
    return Math.min(LONGEST_WAIT_MS, Math.max(1000, Number(retryAfter ?? 1) * 1000 || 1000))
  }

  async function stoppable<T>(call: (stop: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController()
    if (signal.aborted) stop.abort(signal.reason)
    stops.add(stop)
    try {
      return await call(stop.signal)
    } finally {
      stops.delete(stop)
    }
  }

  async function run(row: ItemRow): Promise<void> {
    const batch = await batchOf(row.batch_id)
    if (batch === undefined) return
    const orgId = batch.org_id === 0 ? null : batch.org_id
    const finish = async (status: number, result: object): Promise<void> => {
      await store.finish(owner, row, status, await seal(row, orgId, JSON.stringify(result)))
    }
    if (row.claims > MOST_CLAIMS)
      return finish(500, { error: { code: 'interrupted', message: 'The gateway stopped twice while this item ran.' } })
    const body = encodeUtf8(await open(row, orgId))
    const actsFor = { orgId, keyId: batch.key_id, source: 'batch' }
    const answer = await stoppable((stop) => calls.post({ path: row.url, body, actsFor, signal: stop }))
    if (signal.aborted) return void (await store.postpone(owner, row, 0))
    const json = parsed(answer.body)
    const wait = waitOf(answer.status, answer.headers.get('retry-after'), (json as { error?: { code?: unknown } })?.error?.code)
    if (wait !== null) return void (await store.postpone(owner, row, clock.now() + wait))
    await finish(answer.status, { request_id: answer.headers.get('x-gateway-request-id'), body: json })
  }

  async function claim(): Promise<void> {
    const now = clock.now()
    if (running.size > 0) await store.renew(owner, now + leaseMs)
    const room = MOST_RUNNING - running.size
    if (room > 0 && !signal.aborted) for (const row of await store.claim(owner, now, now + leaseMs, room, PER_BATCH)) start(row)
    await store.conclude(now)
  }

  function start(row: ItemRow): void {
    const item = run(row)
      .catch((error: unknown) => log.error('batches.item_failed', { batch: row.batch_id, error: String(error) }))
      .finally(() => {
        running.delete(item)
        void work()
      })
    running.add(item)
  }

  /** Claims items as long as there is room, and ends batches. One look at a time; a call during a look causes another one after it. */
  function work(): Promise<void> {
    if (again || signal.aborted) return working
    again = true
    working = working.then(async () => {
      again = false
      await claim().catch((error: unknown) => log.error('batches.failed', { error: String(error) }))
    })
    return working
  }

  return {
    work,
    /** Resolves when no item of this process runs. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
      await working
    },
  }
}

function parsed(body: Uint8Array): unknown {
  const text = decodeUtf8(body)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

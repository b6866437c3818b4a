// Runs queued responses: each is an ordinary request of the key that created it, with its limits, budgets and log row. A run is never
// started twice: one that a crash cut becomes `failed`, because it may have cost money and called tools.

import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { OwnCalls } from '../../../core/types/plugin/own-calls.ts'
import type { Statement } from '../../../core/types/ports/db.ts'
import type { Clock, Logger } from '../../../core/types/ports/ports.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { EventLog } from './event-log.ts'
import { eventRecorder } from './event-recorder.ts'
import { RunSink } from './run-sink.ts'
import type { RunRow, RunStore } from './run-store.ts'

export interface Run {
  readonly token: string
  readonly createdAt: number
  /** Resolves when the events so far can be read by followers. */
  recorded(): Promise<void>
  /** Marks the run as completed, in the unit of its settlement. */
  stored(): Statement
}

export interface Runs {
  /** Starts what is queued. */
  work(): Promise<void>
  runOf(ctx: RequestContext): Run | undefined
  /** Stops a run of this process; another process sees the cancellation within a second. */
  stop(token: string): void
  /** Resolves after this time, or before it when a run of this process has new events. */
  news(token: string, ms: number): Promise<void>
  /** Resolves when no run of this process is left. */
  close(): Promise<void>
}

export interface RunsParts {
  readonly store: RunStore
  readonly events: EventLog
  readonly calls: OwnCalls
  readonly clock: Pick<Clock, 'now' | 'timer' | 'sleep'>
  readonly log: Logger
  readonly owner: string
}

/** Runs of one process at a time. */
const MOST_RUNNING = 32
/** Without news from its process for this time, a run counts as cut. */
const LEASE_MS = 30_000

export function backgroundRuns({ store, events, calls, clock, log, owner }: RunsParts): Runs {
  /** Requests of runs, by their body: a caller cannot forge that. */
  const byBody = new WeakMap<Uint8Array, Run>()
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  const waiting = new Map<string, Set<() => void>>()
  let closing = false
  let working: Promise<void> = Promise.resolve()

  async function run(row: RunRow, signal: AbortSignal): Promise<void> {
    const body = encodeUtf8(await store.openRequest(row))
    let isStored = false
    const orgId = row.org_id === 0 ? null : row.org_id
    const tell = () => tellFollowers(row.token)
    const recorder = eventRecorder({ log: events, clock, logger: log, orgId, token: row.token, written: tell })
    byBody.set(body, {
      token: row.token,
      createdAt: row.created_at,
      recorded: () => recorder.flush(),
      stored() {
        isStored = true
        return store.stored(row.token)
      },
    })
    const actsFor = {
      orgId,
      keyId: row.key_id === 0 ? null : row.key_id,
      source: 'background',
    }
    const sink = new RunSink(recorder, signal)
    await calls.stream({ path: '/v1/responses', body, actsFor, signal }, sink)
    await recorder.flush()
    if (!isStored) await store.fail(row, signal.aborted ? INTERRUPTED : sink.error)
    tell()
  }

  function tellFollowers(token: string): void {
    for (const fn of waiting.get(token) ?? []) fn()
  }

  function start(row: RunRow): void {
    const abort = new AbortController()
    const done = run(row, abort.signal)
      .catch((error: unknown) => log.error('responses_state.run_failed', { run: row.token, error: String(error) }))
      .finally(() => running.delete(row.token))
    running.set(row.token, { abort, done })
  }

  async function look(): Promise<void> {
    if (closing) return
    const now = clock.now()
    if (running.size > 0) {
      const kept = await store.renew(owner, now + LEASE_MS)
      for (const [token, { abort }] of running) if (!kept.has(token)) abort.abort()
    }
    for (const row of await store.lost(now)) await store.fail(row, INTERRUPTED)
    const room = MOST_RUNNING - running.size
    if (room > 0) for (const row of await store.claim(owner, now, now + LEASE_MS, room)) start(row)
  }

  return {
    work() {
      working = working.then(look).catch((error: unknown) => log.error('responses_state.runs', { error: String(error) }))
      return working
    },
    runOf: ({ rawBody }) => (rawBody === null ? undefined : byBody.get(rawBody)),
    async news(token, ms) {
      const all = waiting.get(token) ?? new Set()
      waiting.set(token, all)
      const given = new AbortController()
      const end = () => given.abort()
      all.add(end)
      await clock.sleep(ms, given.signal).catch(() => {})
      all.delete(end)
      if (all.size === 0) waiting.delete(token)
    },
    stop: (token) => running.get(token)?.abort.abort(),
    async close() {
      closing = true
      await working
      for (const { abort } of running.values()) abort.abort()
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

const INTERRUPTED = { code: 'server_error', message: 'The gateway stopped while it ran this response. Create it again.' }

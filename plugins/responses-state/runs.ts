// Runs queued responses: each is an ordinary request of the key that created it, with its limits, budgets and log row. A run is never
// started twice: one that a crash cut becomes `failed`, because it may have cost money and called tools.

import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Statement } from '../../core/types/db.ts'
import type { OwnCalls } from '../../core/types/own-calls.ts'
import type { Clock, Logger } from '../../core/types/ports.ts'
import type { RunRow, RunStore } from './run-store.ts'

export interface Run {
  readonly token: string
  readonly createdAt: number
  /** Marks the run as completed, in the unit of its settlement. */
  stored(): Statement
}

export interface Runs {
  /** Starts what is queued. */
  work(): Promise<void>
  runOf(ctx: RequestContext): Run | undefined
  /** Stops a run of this process; another process sees the cancellation within a second. */
  stop(token: string): void
  /** Resolves when no run of this process is left. */
  close(): Promise<void>
}

export interface RunsParts {
  readonly store: RunStore
  readonly calls: OwnCalls
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly owner: string
}

/** Runs of one process at a time. */
const MOST_RUNNING = 32
/** Without news from its process for this time, a run counts as cut. */
const LEASE_MS = 30_000

export function backgroundRuns({ store, calls, clock, log, owner }: RunsParts): Runs {
  /** Requests of runs, by their body: a caller cannot forge that. */
  const byBody = new WeakMap<Uint8Array, Run>()
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  let closing = false
  let working: Promise<void> = Promise.resolve()

  async function run(row: RunRow, signal: AbortSignal): Promise<void> {
    const body = encodeUtf8(await store.openRequest(row))
    let isStored = false
    byBody.set(body, {
      token: row.token,
      createdAt: row.created_at,
      stored() {
        isStored = true
        return store.stored(row.token)
      },
    })
    const actsFor = {
      orgId: row.org_id === 0 ? null : row.org_id,
      keyId: row.key_id === 0 ? null : row.key_id,
      source: 'background',
    }
    const answer = await calls.post({ path: '/v1/responses', body, actsFor, signal })
    if (isStored) return
    await store.fail(row, signal.aborted ? INTERRUPTED : failureOf(answer.status, answer.body))
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

function failureOf(status: number, body: Uint8Array): { code: string; message: string } {
  const code = status === 429 ? 'rate_limit_exceeded' : 'server_error'
  if (status === 200) return { code, message: 'The answer could not be stored: it is larger than the limit of a turn.' }
  try {
    const { error } = JSON.parse(decodeUtf8(body)) as { error?: { code?: unknown; message?: unknown } }
    const isOwn = status < 500 && typeof error?.code === 'string'
    return { code: isOwn ? String(error.code) : code, message: String(error?.message ?? 'The response failed.') }
  } catch {
    return { code, message: 'The response failed.' }
  }
}

// Processes a claimed delivery: makes the attempt and stores its result.
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { TEST_EVENT } from '../events/catalog.ts'
import { answeredStatement, failedStatement } from '../store.ts'
import type { Send, Sent } from './attempt.ts'
import { attemptStatement } from './attempts.ts'
import type { WebhookMetrics } from './metrics.ts'
import { type Ending, endedStatement, type Job, jobOf, release } from './store.ts'

export interface DeliveryParts {
  readonly gateway: PluginGateway
  readonly send: Send
  readonly metrics: WebhookMetrics
  /** Called after a failure was stored. */
  failed(job: Job): Promise<void>
}

/**
 * Never rejects: when the result could not be stored, the delivery is claimed again after the lease.
 * @param stop aborted: the attempt did not finish, and the next run may claim it.
 */
export type Deliver = (id: string, owner: string, stop: AbortController) => Promise<void>

export function deliverer({ gateway, send, metrics, failed }: DeliveryParts): Deliver {
  const { clock, db, log } = gateway

  const end = async (job: Job, owner: string, sent: Sent, startedAt: number): Promise<void> => {
    const now = clock.now()
    const ending = endingOf(job, sent, startedAt, now)
    const ofEndpoint = endpointStatement(job, sent, startedAt)
    const attempt = sent === GONE ? null : attemptStatement(job.id, sent, startedAt, now)
    await db.atomic([
      { sql: endedStatement(job.id, owner, ending, now) },
      ...(ofEndpoint === null ? [] : [{ sql: ofEndpoint }]),
      ...(attempt === null ? [] : [{ sql: attempt }]),
    ])
    metrics.attempt(ending.status)
    if (ending.status === 'dead') log.warn('webhooks.dead', { delivery: job.id, endpoint: job.endpoint_id, error: sent.error })
    if (!sent.ok && job.event_type !== TEST_EVENT) await failed(job)
  }

  return async (id, owner, stop) => {
    try {
      const job = await jobOf(db, id)
      if (job === undefined) return
      const startedAt = clock.now()
      const open = job.endpoint_row !== null && (job.enabled === true || job.event_type === TEST_EVENT)
      if (!open) return await end({ ...job, endpoint_row: null }, owner, GONE, startedAt)
      await end(job, owner, await send(job, stop), startedAt)
    } catch (error) {
      if (stop.signal.aborted) await release(db, id, owner).catch(() => {})
      else log.error('webhooks.delivery_failed', { delivery: id, error: error instanceof Error ? error.message : String(error) })
    }
  }
}

const GONE: Sent = { ok: false, status: null, error: 'The endpoint was disabled or removed.' }

// Times of retries: offsets from the first attempt.
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** After the first, immediate attempt. */
export const OFFSETS_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS]
/** Minimum distance of retries that a stopped gateway or a slow endpoint delayed. */
const BREATH_MS = 5 * SECOND_MS

/** Returns the epoch ms of the next attempt; null: that was the last one. */
function nextAttempt(firstAttemptAt: number, attempts: number, now: number): number | null {
  const offset = OFFSETS_MS[attempts - 1]
  return offset === undefined ? null : Math.max(firstAttemptAt + offset, now + BREATH_MS)
}

function endingOf(job: Job, sent: Sent, startedAt: number, now: number): Ending {
  // A deleted endpoint was not called.
  const attempts = sent === GONE ? job.attempts : job.attempts + 1
  const firstAttemptAt = sent === GONE ? job.first_attempt_at : (job.first_attempt_at ?? startedAt)
  const last = { firstAttemptAt, attempts, lastStatus: sent.status, lastError: sent.error }
  if (sent.ok) return { ...last, status: 'delivered', nextAttemptAt: null }
  if (sent === GONE || job.event_type === TEST_EVENT) return { ...last, status: 'failed', nextAttemptAt: null }
  const next = nextAttempt(firstAttemptAt ?? startedAt, attempts, now)
  return { ...last, status: next === null ? 'dead' : 'pending', nextAttemptAt: next }
}

function endpointStatement({ endpoint_row: id, event_type }: Job, { ok }: Sent, startedAt: number) {
  if (id === null) return null
  if (ok) return answeredStatement(id)
  return event_type === TEST_EVENT ? null : failedStatement(id, startedAt)
}

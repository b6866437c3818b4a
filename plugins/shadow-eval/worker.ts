// Replays samples, one at a time and behind everything else: the challenger is asked, its answer is compared, the score is written.
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Target } from '../../core/types/request/context.ts'
import type { ReplayCalls, Replied } from './calls.ts'
import { type Payload, readPayload } from './sample.ts'
import { type Scored, scoredAlone, scoredByWords } from './scoring/score.ts'
import type { Scorer } from './scoring/scorer.ts'
import { dayOf, nextDay, type Spending } from './spending.ts'
import { placeOf, type QueuedSample, type SampleStore } from './store.ts'

export interface WorkerSources {
  readonly gateway: PluginGateway
  readonly store: SampleStore
  readonly spending: Spending
  readonly calls: ReplayCalls
  readonly scorer: Scorer
  /** Whether samples of this organization are replayed. */
  active(orgId: number | null): boolean
}

export interface Worker {
  /** Replays what waits, until nothing is due, the day's cap is reached or `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Epoch ms until which nothing is replayed because the cap is reached; 0: replays go on. */
  readonly stoppedUntil: number
}

/** An account that is busy or resting is asked again after this time. */
const LATER_MS = 30_000
const MAX_TRIES = 20
/** Replays of a waiting queue leave the event loop to requests for at least twice the time that a fast one takes. */
const MAX_REST_MS = 25

export function replayWorker({ gateway, store, spending, calls, scorer, active }: WorkerSources): Worker {
  const { clock, vault, log } = gateway
  const { ownCall } = gateway.use('estimates')
  let stoppedUntil = 0

  return {
    get stoppedUntil() {
      return stoppedUntil > clock.now() ? stoppedUntil : 0
    },
    async run(signal) {
      while (!signal.aborted && clock.now() >= stoppedUntil) {
        const began = clock.monotonic()
        const sample = await store.claim(clock.now())
        if (sample === null) return
        await replayed(sample, signal)
        await rest(2 * (clock.monotonic() - began), signal)
      }
    },
  }

  async function replayed(sample: QueuedSample, signal: AbortSignal): Promise<void> {
    const orgId = sample.org_id === 0 ? null : sample.org_id
    if (!active(orgId)) return failed(sample, 'switched_off')
    const payload = await opened(sample, orgId)
    if (payload === null) return failed(sample, 'unreadable')
    const target = targetOf(sample)
    if (!calls.available(orgId, target, payload.request)) return later(sample)
    // The score is reserved with the replay: for an answer as long as the one that is there.
    const reserved = ownCall(orgId, target, payload.request) + scorer.costOf(orgId, payload, payload.answer)
    if (reserved > spending.capNano) return failed(sample, 'over_cap')
    const now = clock.now()
    const day = dayOf(now)
    if (!(await spending.reserve(day, reserved))) {
      stoppedUntil = nextDay(now)
      log.info('shadow.cap_reached', { day, resumes: new Date(stoppedUntil).toISOString() })
      return store.release(sample.id, stoppedUntil)
    }
    const reply = await calls.ask(orgId, target, payload.request, signal)
    const after = { reserved, cost: reply.costNano }
    if (reply.answer === null) {
      await spending.exchange(day, after, 0)
      if (reply.error !== null && isPassing(reply.error, signal)) return later(sample)
      return failed(sample, reply.error?.code ?? 'not_comparable', reply)
    }
    const alone = scoredAlone(payload.answer, reply.answer)
    if (alone !== null) {
      await spending.exchange(day, after, 0)
      return scored(sample, reply, alone, 0)
    }
    const scoring = scorer.costOf(orgId, payload, reply.answer)
    const fits = await spending.exchange(day, after, scoring)
    const words = scoredByWords(payload.answer, reply.answer)
    if (!fits) return scored(sample, reply, words, 0)
    const compared = await scorer.score(orgId, payload, reply.answer, signal)
    await spending.exchange(day, { reserved: scoring, cost: compared.costNano }, 0)
    return scored(sample, reply, compared.scored ?? words, compared.costNano)
  }

  /** Ends at once when the worker is stopped. */
  async function rest(ms: number, signal: AbortSignal): Promise<void> {
    if (ms >= 1 && !signal.aborted) await clock.sleep(Math.min(ms, MAX_REST_MS), signal).catch(() => {})
  }

  async function opened(sample: QueuedSample, orgId: number | null): Promise<Payload | null> {
    try {
      return readPayload(await vault.open(sample.payload_sealed, placeOf(sample.request_id, orgId)))
    } catch (error) {
      log.warn('shadow.unreadable', { request: sample.request_id, error: error instanceof Error ? error.name : 'unknown' })
      return null
    }
  }

  function later(sample: QueuedSample): Promise<void> {
    if (sample.tries >= MAX_TRIES) return failed(sample, 'unavailable')
    return store.release(sample.id, clock.now() + LATER_MS)
  }

  function failed({ id }: QueuedSample, error: string, reply?: Replied): Promise<void> {
    const [challengerCostNano, latencyMs] = [reply?.costNano ?? 0, reply?.latencyMs ?? null]
    return store.end(id, { score: null, method: null, challengerCostNano, scoreCostNano: 0, latencyMs, error })
  }

  function scored({ id }: QueuedSample, reply: Replied, { score, method }: Scored, scoreCostNano: number): Promise<void> {
    const { costNano: challengerCostNano, latencyMs } = reply
    return store.end(id, { score, method, challengerCostNano, scoreCostNano, latencyMs, error: null })
  }
}

function targetOf({ challenger, challenger_connection: connectionId }: QueuedSample): Target {
  const slash = challenger.indexOf('/')
  return { provider: challenger.slice(0, slash), model: challenger.slice(slash + 1), connectionId, weight: 1 }
}

/** The account may answer later: it is busy or resting, or this process ends. */
function isPassing(error: GatewayError, signal: AbortSignal): boolean {
  return signal.aborted || error.skip !== null || error.status === 429 || error.status === 503
}

// Holds the state that all exchanges of one gateway share. createGateway builds it once; only `generation` changes.
import type { SwapRemoveList } from '../collections/swap-remove-list.ts'
import type { Env } from '../config/env.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import type { CrossOrigins } from '../http/cross-origin.ts'
import type { RouteTable } from '../http/data-routes.ts'
import type { ValueLimits } from '../json/json-scan.ts'
import type { Overload } from '../load/overload.ts'
import type { Receiving, ReceivingLimits } from '../load/receiving.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Generation } from '../plugins/generation.ts'
import type { HeartbeatForm } from '../services.ts'
import type { Ticker } from '../timing/ticker.ts'
import type { YieldQueue } from '../timing/yield-queue.ts'
import type { Ports } from '../types/gateway.ts'
import type { OperationDriver } from '../types/operations/operation.ts'
import type { MediaOperation } from '../types/operations/operations.ts'
import type { Clock, Logger, Transport } from '../types/ports/ports.ts'
import type { Provider } from '../types/ports/provider.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { LiveRequest } from '../types/request/context.ts'
import type { DialectDriver } from '../types/request/dialect.ts'
import type { RequestState } from './context.ts'

export interface RuntimeOptions {
  readonly profile: 'local' | 'cloud'
  readonly requireApiKey: boolean
  readonly maxBodyBytes: number
  readonly requestLimits: ValueLimits
  readonly answerLimits: ValueLimits
  readonly heartbeatMs: number
  readonly idleTimeoutMs: number
  readonly connectTimeoutMs: number
  /** 0 = no deadline. */
  readonly deadlineMs: number
  readonly receiving: ReceivingLimits
  readonly outboundProxy: string | null
  /** Deep-freezes the values that hooks may only read. Tests set it. */
  readonly freeze: boolean
}

export interface Runtime {
  readonly options: RuntimeOptions
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly transport: Transport
  readonly fetchMedia: Ports['fetchMedia']
  readonly readForm: Ports['readForm']
  readonly dialects: ReadonlyMap<Dialect, DialectDriver>
  readonly operations: ReadonlyMap<MediaOperation, OperationDriver>
  /** Returns the provider of an id or alias; an unknown id is a custom provider. */
  provider(id: string): Provider
  /** null: there is no database, and units hold no statements. */
  readonly commits: GroupCommit | null
  readonly ticker: Ticker
  /** True when `serve.anonymous_calls` was logged. */
  warnedOfOpenHost: boolean
  /** Returns whether answers to callers of this dialect carry the model name that they requested. */
  answersAsRequested(dialect: Dialect): boolean
  heartbeatForm(dialect: Dialect): HeartbeatForm
  readonly active: SwapRemoveList<RequestState>
  readonly receiving: Receiving
  readonly overload: Overload
  readonly crossOrigin: CrossOrigins
  /** Large bodies wait here for a turn of the event loop. */
  readonly turns: YieldQueue
  generation: Generation
  routes: RouteTable
  slotCount: number
  draining: boolean
}

export function driver(runtime: Runtime, dialect: Dialect): DialectDriver {
  const found = runtime.dialects.get(dialect)
  if (found === undefined) throw new Error(`This gateway has no driver for the dialect ${dialect}.`)
  return found
}

export function runtimeOptions(env: Env, freeze: boolean): RuntimeOptions {
  return {
    profile: env.get<'local' | 'cloud'>('PROFILE'),
    requireApiKey: env.get<boolean>('REQUIRE_API_KEY'),
    maxBodyBytes: env.get<number>('MAX_BODY_BYTES'),
    requestLimits: { values: env.get<number>('MAX_REQUEST_VALUES'), numbers: env.get<number>('MAX_REQUEST_NUMBERS') },
    answerLimits: { values: env.get<number>('MAX_ANSWER_VALUES'), numbers: env.get<number>('MAX_ANSWER_NUMBERS') },
    heartbeatMs: env.get<number>('STREAM_HEARTBEAT_MS'),
    idleTimeoutMs: env.get<number>('UPSTREAM_IDLE_TIMEOUT_MS'),
    connectTimeoutMs: env.get<number>('UPSTREAM_CONNECT_TIMEOUT_MS'),
    deadlineMs: env.get<number | null>('REQUEST_DEADLINE_MS') ?? 0,
    receiving: {
      total: env.get<number>('MAX_RECEIVING_BYTES'),
      perKey: env.get<number>('MAX_RECEIVING_BYTES_PER_KEY'),
      leastRate: env.get<number>('MIN_BODY_BYTES_PER_SEC'),
    },
    outboundProxy: env.get<string | null>('OUTBOUND_PROXY'),
    freeze,
  }
}

/**
 * Resolves to false when some requests still run after `ms`. It polls instead of counting: reloads are rare, and a counter would cost
 * every request.
 */
export async function untilIdle(
  { active, clock }: Pick<Runtime, 'active' | 'clock'>,
  which: (ctx: RequestState) => boolean,
  ms: number,
): Promise<boolean> {
  const until = clock.monotonic() + ms
  while (active.values().some(which)) {
    const left = until - clock.monotonic()
    if (left <= 0) return false
    await clock.sleep(Math.min(50, left))
  }
  return true
}

// Returns a running request as checkpoints, drain and health see it.
export function liveRequest(ctx: RequestState): LiveRequest {
  const { facts, steps, calls, lastReadAt } = ctx
  return {
    ctx,
    contentBytes: facts?.contentBytes ?? 0,
    usage: facts?.usage ?? null,
    steps,
    calls: calls === null ? NO_CALLS : [...calls].map(liveRequest),
    lastReadAt,
  }
}

const NO_CALLS: readonly LiveRequest[] = []

// Services that core itself uses or provides; plugins widen `Services` further.

import type { ZodType } from 'zod'
import type { Configuration } from './config/configuration.ts'
import type { Usage } from './types/answer.ts'
import type { Dialect, Operation } from './types/canonical.ts'
import type { LiveRequest, RequestContext } from './types/context.ts'
import type { Operator } from './types/operator.ts'
import type { HeaderBag, HealthCheck, OutboundGuard, OutboundPost, Peer, VectorStore } from './types/ports.ts'
import type { Connection } from './types/provider.ts'

/** Where targets become accounts. Provided by the plugin that owns connections; core expands plans with it. */
export interface ConnectionService {
  /** Enabled connections of a provider (id or alias) that may serve the model, by priority. */
  list(provider: string, model: string, ctx: RequestContext): readonly Connection[]
  /** True when the provider id means anything here. */
  knows(provider: string): boolean
  /** The credential; only core's executor asks, to hand it to the provider's authorize(). */
  secretOf(connection: Connection): string | null
}

/** Which way calls go on a connection that names no proxy itself; provided by the plugin that keeps proxy pools. */
export interface ProxyService {
  /**
   * Asked on every call, so it reads a table. null: straight; undefined: nothing is assigned, OUTBOUND_PROXY holds.
   * `ctx` is null for calls beside the pipeline.
   */
  for(connection: Connection, url: string, ctx: RequestContext | null): string | null | undefined
}

export interface SideAnswer {
  readonly status: number
  readonly headers: HeaderBag
  readonly body: Uint8Array
}

export interface SideCallOptions {
  /** Flat [name, value, …]. */
  readonly headers?: readonly string[]
  /** Of the answer; default 1 MiB, at most 64. */
  readonly maxBytes?: number
  /** Ends it: the promise rejects. */
  readonly signal?: AbortSignal
}

/** A call beside the pipeline that a vendor bills. */
export interface SideBill {
  readonly connection: Connection
  readonly model: string
  readonly operation: Operation
  /** Who made it, as usage and log show it. */
  readonly source: string
  /** Whom it is for; no key is charged. */
  readonly orgId: number | null
  readonly usage: Usage
  /** Of the answer. */
  readonly status: number
  /** Epoch ms. */
  readonly startedAt: number
}

/** Calls beside the pipeline: a vendor's lists and meters, embeddings, and whether a proxy carries. */
export interface SideCalls {
  /**
   * With the address, key, headers and proxy of a connection, at most 1 MiB. `path` as `/key`; a status is an answer, and
   * redirects are not followed.
   * @throws GatewayError when there was none within `timeoutMs`; free of secrets.
   */
  get(connection: Connection, path: string, timeoutMs: number): Promise<SideAnswer>
  /** The same with a JSON body, in the shape of OpenAI's routes. What it costs is for `book`. */
  post(connection: Connection, path: string, body: unknown, timeoutMs: number): Promise<SideAnswer>
  /** Settles it like an internal call of its own: priced, charged to the organization, in usage and log under its source. */
  book(bill: SideBill): void
  /** To any address, with no credential. Nothing is booked. */
  through(proxyUrl: string | null, url: string, timeoutMs: number, options?: SideCallOptions): Promise<SideAnswer>
}

/** One upstream call as it is priced. */
export interface Billable {
  readonly connection: Connection
  readonly model: string
  readonly operation: Operation
  readonly usage: Usage
}

/** Nano-USD, whole, rounded up once. */
export interface StepPrice {
  /** What the upstream asks. */
  readonly costNano: number
  /** What the tenant pays: more with a markup only. */
  readonly chargeNano: number
  /** Which price list said so. */
  readonly ref: string
}

/** What upstream calls cost; provided by the plugin that keeps prices. Core asks at the end of each, and prices nothing itself. */
export interface PriceService {
  /** Asked on every call, so it reads a table. null: no price is known. */
  price(call: Billable): StepPrice | null
}

/** One run of a plugin's handler. */
export interface HookRun {
  readonly plugin: string
  readonly hook: string
  /** Epoch ms. */
  readonly startedAt: number
  /** What a handler wrapped around others took, it took with them. */
  readonly ms: number
  /** undefined: it returned. */
  readonly error: unknown
}

/** Takes the time of plugins; provided by a plugin that traces. Asked for when hooks are sealed. */
export interface HookTracer {
  /** Its own name: it is not traced itself. */
  readonly plugin: string
  wants(ctx: RequestContext): boolean
  ran(ctx: RequestContext, run: HookRun): void
}

/** The state of this process, for health routes. */
export interface GatewayStatus {
  readonly version: string
  readonly profile: 'local' | 'cloud'
  /** `draining` from the first drain() on. */
  readonly state: 'serving' | 'draining'
  readonly startedAt: number
  /** What the gateway depends on: the database, the shared store. */
  readonly checks: readonly HealthCheck[]
  live(): Iterable<LiveRequest>
}

/** How often quiet streams are given a sign of life. */
export interface Heartbeat {
  /** Of several that have not ended the newest holds; without one the environment does. End it on teardown. */
  layer(): HeartbeatLayer
}

/** `auto`: the dialect's own frame for clients that need it, a comment for all others. */
export type HeartbeatForm = 'auto' | 'frame' | 'comment' | 'off'

export interface HeartbeatLayer {
  /** ms, 0 for never; also for streams that are open. */
  set(ms: number): void
  /** Of the streams of one dialect; default `auto`. A dialect without a frame of its own sends comments for `frame`. */
  form(dialect: Dialect, form: HeartbeatForm): void
  end(): void
}

/** Whether `model` in an answer is the string that was asked for: `auto` = for callers of messages only. */
export type AnswerModelMode = 'auto' | 'requested' | 'served'

export interface AnswerModel {
  /** Of several that have not ended the newest holds; without one it is `auto`. End it on teardown. */
  layer(): AnswerModelLayer
}

export interface AnswerModelLayer {
  set(mode: AnswerModelMode): void
  end(): void
}

/** Which web pages may call the data plane from a browser. */
export interface CrossOrigin {
  /** Of several that have not ended the newest holds; without one no page may. End it on teardown. */
  layer(): CrossOriginLayer
}

export interface CrossOriginLayer {
  /** Exact origins as a browser writes them, or `*`. */
  set(origins: readonly string[]): void
  end(): void
}

/** Prometheus exposition of this gateway's registry. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** Who calls the control plane; provided by the plugin that owns sign-in. */
export interface OperatorService {
  /** null: nobody we know. @throws GatewayError 401 for a credential that is wrong or has ended. */
  identify(request: Request, peer: Peer): Promise<Operator | null>
}

export interface AuditEntry {
  readonly orgId: number | null
  readonly actor: string
  /** `key.create`, `settings.update` … */
  readonly action: string
  readonly target: string | null
  /** Secrets are taken out before it is written. */
  readonly details: Readonly<Record<string, unknown>>
  readonly ip: string | null
}

/** Provided by the plugin that keeps the audit chain. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>
}

/** One declared setting as it stands. */
export interface DeclaredSetting {
  readonly plugin: string
  readonly key: string
  readonly schema: ZodType
  readonly value: unknown
  readonly source: 'default' | 'config' | 'env' | 'runtime'
  readonly pinned: boolean
}

/** What was changed at run time, over file and environment. */
export interface RuntimeSettings {
  /** Replaces everything, by dotted key; what no longer fits its schema is passed over with a warning. Watchers run. */
  set(values: Readonly<Record<string, unknown>>): void
  /** What file and environment say holds again, unless a newer layer is there. */
  end(): void
}

/** All settings of all plugins of this gateway; the runtime layer is the plugin's that stores it. */
export interface SettingsService {
  declared(): readonly DeclaredSetting[]
  /** Of several that have not ended the newest holds. It outlives a reload: end it on teardown. */
  layer(): RuntimeSettings
}

declare module './types/plugin.ts' {
  interface Services {
    connections: ConnectionService
    configuration: Configuration
    status: GatewayStatus
    exposition: Exposition
    heartbeat: Heartbeat
    answerModel: AnswerModel
    crossOrigin: CrossOrigin
    operators: OperatorService
    audit: AuditLog
    settings: SettingsService
    outbound: OutboundGuard
    outboundPost: OutboundPost
    proxies: ProxyService
    sideCalls: SideCalls
    vectors: VectorStore
    prices: PriceService
    hookTracer: HookTracer
  }
}

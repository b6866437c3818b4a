// Services that core itself uses or provides; plugins widen `Services` further.
import type { ZodType } from 'zod'
import type { Configuration } from './config/configuration.ts'
import type { Usage } from './types/answer.ts'
import type { Dialect, Operation } from './types/canonical.ts'
import type { LiveRequest, RequestContext } from './types/context.ts'
import type { Operator } from './types/operator.ts'
import type { PluginInfo } from './types/plugin-info.ts'
import type { PortableService } from './types/portable.ts'
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

/** Selects the proxy of connections that name none. The plugin with the proxy pools provides it. */
export interface ProxyService {
  /**
   * Asked on every call, so it reads a table. null: straight; undefined: nothing is assigned, OUTBOUND_PROXY holds.
   * `ctx` is null for calls beside the pipeline.
   */
  for(connection: Connection, url: string, ctx: RequestContext | null): string | null | undefined
}

export interface DirectAnswer {
  readonly status: number
  readonly headers: HeaderBag
  readonly body: Uint8Array
}

export interface DirectCallOptions {
  /** Flat [name, value, …]. */
  readonly headers?: readonly string[]
  /** Limit of the answer's body; default 1 MiB, at most 64. */
  readonly maxBytes?: number
  /** Ends it: the promise rejects. */
  readonly signal?: AbortSignal
}

/** A call beside the pipeline that a vendor bills. */
export interface SideBill {
  readonly connection: Connection
  readonly model: string
  readonly operation: Operation
  /** The caller's name in usage and log. */
  readonly source: string
  /** Whom it is for; no key is charged. */
  readonly orgId: number | null
  readonly usage: Usage
  /** HTTP status of the answer. */
  readonly status: number
  /** Epoch ms. */
  readonly startedAt: number
}

/** Calls beside the pipeline: a vendor's lists and meters, embeddings, and whether a proxy carries. */
export interface DirectCalls {
  /**
   * With the address, key, headers and proxy of a connection, at most 1 MiB. `path` as `/key`; a status is an answer, and
   * redirects are not followed.
   * @throws GatewayError when there was none within `timeoutMs`; free of secrets.
   */
  get(connection: Connection, path: string, timeoutMs: number): Promise<DirectAnswer>
  /** The same with a JSON body, in the shape of OpenAI's routes. Pass its cost to `book`. */
  post(connection: Connection, path: string, body: unknown, timeoutMs: number): Promise<DirectAnswer>
  /** Settles it like an internal call of its own: priced, charged to the organization, in usage and log under its source. */
  book(bill: SideBill): void
  /** Sends to any address without a credential. It is not booked. */
  viaProxy(proxyUrl: string | null, url: string, timeoutMs: number, options?: DirectCallOptions): Promise<DirectAnswer>
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
  /** The upstream's price. */
  readonly costNano: number
  /** The tenant's price; higher only with a markup. */
  readonly chargeNano: number
  /** The price list that gave the price. */
  readonly ref: string
}

/** Prices upstream calls. The pricing plugin provides it; core asks after each call and knows no prices itself. */
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
  /** Time spent in the handler itself, without the handlers that it wraps. */
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
  /** Dependencies of the gateway: the database, the shared store. */
  readonly checks: readonly HealthCheck[]
  live(): Iterable<LiveRequest>
}

/** How often quiet streams are given a sign of life. */
export interface Heartbeat {
  /** Adds an override. The newest active one applies; without one, the environment does. End it on teardown. */
  layer(): HeartbeatLayer
}

/** `auto`: the dialect's own frame for clients that need it, a comment for all others. */
export type HeartbeatForm = 'auto' | 'frame' | 'comment' | 'off'

export interface HeartbeatLayer {
  /** ms, 0 for never; also for streams that are open. */
  set(ms: number): void
  /** Sets the form for one dialect's streams; default `auto`. With `frame`, a dialect without a frame of its own sends comments. */
  form(dialect: Dialect, form: HeartbeatForm): void
  end(): void
}

/** Whether `model` in an answer is the string that the caller asked for. `auto`: for messages callers only. */
export type AnswerModelMode = 'auto' | 'requested' | 'served'

export interface AnswerModel {
  /** Adds an override. The newest active one applies; the default is `auto`. End it on teardown. */
  layer(): AnswerModelLayer
}

export interface AnswerModelLayer {
  set(mode: AnswerModelMode): void
  end(): void
}

/** The web pages that may call the data plane from a browser. */
export interface CrossOrigin {
  /** Adds an override. The newest active one applies; by default no page may. End it on teardown. */
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

/** Identifies callers of the control plane. The sign-in plugin provides it. */
export interface OperatorService {
  /** null for an anonymous caller. @throws GatewayError 401 for a wrong or expired credential. */
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

/** Settings changed at run time, with precedence over file and environment. */
export interface RuntimeSettings {
  /** Replaces everything, by dotted key; what no longer fits its schema is passed over with a warning. Watchers run. */
  set(values: Readonly<Record<string, unknown>>): void
  /** Removes this layer. File and environment apply again, unless a newer layer is active. */
  end(): void
}

/** All settings of all plugins of this gateway; the runtime layer is the plugin's that stores it. */
export interface SettingsService {
  declared(): readonly DeclaredSetting[]
  /** Adds a layer. The newest active one applies. It outlives a reload: end it on teardown. */
  layer(): RuntimeSettings
}

declare module './types/plugin.ts' {
  interface Services {
    connections: ConnectionService
    configuration: Configuration
    status: GatewayStatus
    plugins: { list(): PluginInfo[] }
    portable: PortableService
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
    directCalls: DirectCalls
    vectors: VectorStore
    prices: PriceService
    hookTracer: HookTracer
  }
}

// Types of the services that core itself uses or provides; plugins widen `Services`.
import type { ZodType } from 'zod'
import type { Configuration } from './config/configuration.ts'
import type { ConfigPlan } from './config/reconcile.ts'
import type { AttentionService } from './types/attention.ts'
import type { OperationDriver } from './types/operations/operation.ts'
import type { Operator } from './types/operator.ts'
import type { TracedCalls, Translator } from './types/playground.ts'
import type { HookTracer } from './types/plugin/hook-tracer.ts'
import type { PluginOverview } from './types/plugin/info.ts'
import type { DirectAnswer, OwnCalls } from './types/plugin/own-calls.ts'
import type { PortableService } from './types/plugin/portable.ts'
import type { HealthCheck, OutboundGuard, OutboundPost, Peer, VectorStore } from './types/ports/ports.ts'
import type { Processes } from './types/ports/processes.ts'
import type { Connection } from './types/ports/provider.ts'
import type { Siblings } from './types/ports/siblings.ts'
import type { Simulator } from './types/ports/simulation.ts'
import type { Site } from './types/ports/site.ts'
import type { PageReader } from './types/ports/web-page.ts'
import type { RefusedReload } from './types/reload.ts'
import type { Usage } from './types/request/answer.ts'
import type { Awaitable, Dialect, Operation } from './types/request/canonical.ts'
import type { LiveRequest, Outcome, RequestContext, SharedTarget } from './types/request/context.ts'

export type { DirectAnswer } from './types/plugin/own-calls.ts'

/** Maps targets to accounts. The plugin that owns connections provides it; core expands plans with it. */
export interface ConnectionService {
  /** Returns the caller's enabled connections of a provider (id or alias) that may serve the model, by priority. */
  list(provider: string, model: string, ctx: Pick<RequestContext, 'principal'>): readonly Connection[]
  /** Returns an enabled connection, whichever organization owns it: for targets that are shared. */
  shared?(id: string): Connection | undefined
  /** Returns true when the organization has an enabled connection of this provider; null, the default: the gateway's own. */
  knows(provider: string, orgId?: number | null): boolean
  /** Returns the stored credential; null when there is none, or when it is renewed. */
  secretOf(connection: Connection): string | null
  /**
   * Returns the credential of a call, or a promise while it is renewed. Only core's executor calls it, and passes the credential to the
   * provider's authorize(). It rejects with a GatewayError of the upstream. Absent: `secretOf` has every credential.
   */
  credentialOf?(connection: Connection): Awaitable<string | null>
}

/** Selects the proxy of connections that name none. The proxy-pools plugin provides it. */
export interface ProxyService {
  /**
   * Called for every upstream call, so it reads a table. null: no proxy; undefined: nothing is assigned and OUTBOUND_PROXY applies. `ctx`
   * is null for calls outside the pipeline.
   */
  for(connection: Connection, url: string, ctx: RequestContext | null): string | null | undefined
}

export interface DirectCallOptions {
  /** Flat [name, value, …]. */
  readonly headers?: readonly string[]
  /** With a body the call is a POST; `headers` name its content type. */
  readonly body?: Uint8Array
  /** Limit of the answer's body in bytes; default 1 MiB, at most 64 MiB. */
  readonly maxBytes?: number
  /** Aborts the call: the promise rejects. */
  readonly signal?: AbortSignal
}

/** A call outside the pipeline that a vendor bills. */
export interface SideBill {
  readonly connection: Connection
  readonly model: string
  readonly operation: Operation
  /** The name in usage and log. */
  readonly source: string
  /** The organization that it is billed to; no key is charged. */
  readonly orgId: number | null
  readonly usage: Usage
  /** HTTP status of the answer. */
  readonly status: number
  /** Epoch ms. */
  readonly startedAt: number
}

/** Calls outside the pipeline: a vendor's lists and meters, embeddings, and tests of proxies. */
export interface DirectCalls {
  /**
   * Sends a GET with the address, key, headers and proxy of a connection. `path` is like `/key`. Reads at most 1 MiB; returns every
   * status as an answer, and follows no redirects.
   * @throws GatewayError free of secrets when there was no answer within `timeoutMs`.
   */
  get(connection: Connection, path: string, timeoutMs: number): Promise<DirectAnswer>
  /** Sends a POST in the same way, with a JSON body in the shape of OpenAI's routes. Pass its cost to `book`. */
  post(connection: Connection, path: string, body: unknown, timeoutMs: number): Promise<DirectAnswer>
  /**
   * Settles the call like an internal call: priced, charged to the organization, and listed under its source in usage and log. Returns
   * the outcome, which has the cost.
   */
  book(bill: SideBill): Outcome
  /** Sends to any address without a credential of a connection. Follows no redirects. It is not booked. */
  viaProxy(proxyUrl: string | null, url: string, timeoutMs: number, options?: DirectCallOptions): Promise<DirectAnswer>
}

/** One upstream call to be priced. */
export interface Billable {
  readonly connection: Connection
  readonly model: string
  readonly operation: Operation
  readonly usage: Usage
  /** The organization that pays. Absent: the owner of the connection, without a markup. */
  readonly orgId?: number | null
  /** Set when the connection is shared. */
  readonly shared?: SharedTarget | undefined
}

/** A price in whole nano-USD, rounded up once. */
export interface StepPrice {
  /** The upstream's price. */
  readonly costNano: number
  /** The tenant's price; higher only with a markup. */
  readonly chargeNano: number
  /** The price list that the price comes from. */
  readonly ref: string
}

/** Prices upstream calls. The pricing plugin provides it; core calls it after each upstream call and knows no prices itself. */
export interface PriceService {
  /** Called for every upstream call, so it reads a table. null: no price is known. */
  price(call: Billable): StepPrice | null
  /** Returns the charge, nano-USD, of a cost at a shared connection. Absent: the cost itself. */
  sharedCharge?(costNano: number, orgId: number | null, shared: SharedTarget): number
}

/** The state of this process, for health routes. */
export interface GatewayStatus {
  readonly version: string
  readonly profile: 'local' | 'cloud'
  /** `draining` after the first drain(). */
  readonly state: 'serving' | 'draining'
  readonly startedAt: number
  /** Dependencies of the gateway, such as the database and the shared store. */
  readonly checks: readonly HealthCheck[]
  live(): Iterable<LiveRequest>
  /** Calls `fn` with the address of the host's server, now or when it listens. Returns the function that ends this. */
  whenListening(fn: (url: string) => void): () => void
  /** The newest configuration, when it was refused and an older one keeps serving; null: the newest one serves. */
  readonly refusedReload: RefusedReload | null
}

/** Sets how often quiet streams get a heartbeat. */
export interface Heartbeat {
  /** Adds an override. The newest active one applies; without one, the environment does. End it on teardown. */
  layer(): HeartbeatLayer
}

/** `auto`: the dialect's own frame for clients that need it, a comment for all others. */
export type HeartbeatForm = 'auto' | 'frame' | 'comment' | 'off'

export interface HeartbeatLayer {
  /** Interval in ms, 0 for never. It also applies to open streams. */
  set(ms: number): void
  /** Sets the form for one dialect's streams; default `auto`. With `frame`, a dialect without a frame of its own sends comments. */
  form(dialect: Dialect, form: HeartbeatForm): void
  end(): void
}

/**
 * Selects the `model` in answers: the string that the caller requested, or the model that served. `auto`: the requested one for messages
 * callers only.
 */
export type AnswerModelMode = 'auto' | 'requested' | 'served'

export interface AnswerModel {
  /** Adds an override. The newest active one applies; the default is `auto`. End it on teardown. */
  layer(): AnswerModelLayer
}

export interface AnswerModelLayer {
  set(mode: AnswerModelMode): void
  end(): void
}

/** Sets the web pages that may call the data plane from a browser. */
export interface CrossOrigin {
  /** Adds an override. The newest active one applies; by default no page may. End it on teardown. */
  layer(): CrossOriginLayer
}

export interface CrossOriginLayer {
  /** Exact origins as a browser sends them, or `*`. */
  set(origins: readonly string[]): void
  end(): void
}

/** The Prometheus exposition of this gateway's registry. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** Identifies callers of the control plane. The sign-in plugin provides it. */
export interface OperatorService {
  /** For the 401 of anonymous callers: the route that gives a session. Default: `POST /api/login`. */
  readonly signInRoute?: string
  /** Returns null for an anonymous caller. @throws GatewayError 401 for a wrong or expired credential. */
  identify(request: Request, peer: Peer): Promise<Operator | null>
}

export interface AuditEntry {
  readonly orgId: number | null
  readonly actor: string
  /** For example `key.create`, `settings.update`. */
  readonly action: string
  readonly target: string | null
  /** Secrets are removed before the entry is written. */
  readonly details: Readonly<Record<string, unknown>>
  readonly ip: string | null
}

/** Writes audit entries. The plugin that keeps the audit chain provides it. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>
}

/** One declared setting with its current value. */
export interface DeclaredSetting {
  readonly plugin: string
  readonly key: string
  readonly schema: ZodType
  readonly value: unknown
  readonly source: 'default' | 'config' | 'env' | 'runtime' | 'organization'
  readonly pinned: boolean
  /** `organization`: each organization may have a value of its own. */
  readonly scope: 'gateway' | 'organization'
}

/** Settings changed at run time; they take precedence over file and environment. */
export interface RuntimeSettings {
  /**
   * Replaces all values, by dotted key; `organizations` holds those that organizations changed for themselves. A value that no longer fits
   * its schema is skipped with a warning. Watchers run.
   */
  set(values: Readonly<Record<string, unknown>>, organizations?: ReadonlyMap<number, Readonly<Record<string, unknown>>>): void
  /** Removes this layer. File and environment apply again, unless a newer layer is active. */
  end(): void
}

/** Settings that gateway.config.ts gives to organizations. */
export interface OrganizationFile {
  /** Replaces all values, by organization and dotted key. Watchers run. */
  set(organizations: ReadonlyMap<number, Readonly<Record<string, unknown>>>): void
  /** Removes these values, unless a newer plugin has replaced them. */
  end(): void
}

/** All settings of all plugins of this gateway. The plugin that stores runtime settings adds the runtime layer. */
export interface SettingsService {
  /** The values of the gateway, or of one organization. */
  declared(orgId?: number | null): readonly DeclaredSetting[]
  /** Adds a layer. The newest active one applies. It outlives a reload: end it on teardown. */
  layer(): RuntimeSettings
  /** Adds the values that the file gives to organizations. The newest ones apply. They outlive a reload: end them on teardown. */
  organizationFile(): OrganizationFile
}

/** The operations other than chat that this gateway serves. */
export interface OperationService {
  of(operation: Operation): OperationDriver | undefined
}

declare module './types/plugin/plugin.ts' {
  interface Services {
    connections: ConnectionService
    attention: AttentionService
    configuration: Configuration
    configPlan: ConfigPlan
    status: GatewayStatus
    plugins: PluginOverview
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
    operations: OperationService
    ownCalls: OwnCalls
    translator: Translator
    tracedCalls: TracedCalls
    pages: PageReader
    simulator: Simulator
    siblings: Siblings
    processes: Processes
    hookTracer: HookTracer
    site: Site
  }
}

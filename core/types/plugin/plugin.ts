// Types of the plugin API.
import type { $Fetch } from 'ofetch'
import type { Counter, Gauge, Histogram } from 'prom-client'
import type { ZodObject, ZodType, z } from 'zod'
import type { Operator, Role } from '../operator.ts'
import type { Db, Migration, Renew, TenantWall, View } from '../ports/db.ts'
import type { Clock, Counters, KeyValueStore, Logger, Peer, Vault } from '../ports/ports.ts'
import type { Awaitable, CanonicalRequest, Operation } from '../request/canonical.ts'
import type { KeyScope, LiveRequest, ModelKind, Outcome, RequestContext, RequestOf, Slot, Target } from '../request/context.ts'
import type { WireBody } from '../request/dialect.ts'
import type { Result } from '../request/result.ts'
import type { ContextHook, GatewayHooks, HookFor, HookOptions, OperationHookOptions } from './hooks.ts'
import type { OfferHost } from './offer-host.ts'
import type { Offers } from './offers.ts'
import type { PluginPage } from './page.ts'
import type { Panel } from './panel.ts'
import type { PortableKind } from './portable.ts'
import type { ResourceKind } from './resource.ts'
import type { PluginVariable } from './variables.ts'

/** A control-plane route: zod schemas for input and output. */
export interface ApiRoute<
  P extends ZodType = ZodType,
  Q extends ZodType = ZodType,
  B extends ZodType = ZodType,
  R extends ZodType = ZodType,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** h3 pattern: `/api/keys/:id`. */
  path: string
  summary: string
  /** Deny by default: without a role the route is for operators of the gateway (`system`). */
  role?: Role
  /** Status of the answer; default 200. */
  status?: number
  params?: P
  /** A parameter whose field is an array collects its repeated values; any other parameter may occur once. */
  query?: Q
  body?: B
  /** Schema of a JSON answer. OpenAPI documents it and tests check it. */
  response?: R
  /** Other statuses whose answer is not the error envelope; for OpenAPI. */
  responses?: Readonly<Record<number, ZodType>>
  /**
   * Action of the audit entry that is written after the handler: `key.create`. Routes that write must set it; false: the route changes
   * nothing.
   */
  audit?: string | false
  /** The only profile that has the route; it is 404 elsewhere. */
  profile?: 'local' | 'cloud'
  handler(req: ApiCall<z.output<P>, z.output<Q>, z.output<B>>): Awaitable<z.input<R> | Response>
}

export interface ApiCall<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly operator: Operator
  readonly orgId: number | null
  readonly peer: Peer
  readonly request: Request
  /** Sets the target of the audit entry. Default: the path's `id`, otherwise the answer's `id`. */
  audited(target: string | number, details?: Record<string, unknown>): void
  /** Writes no audit entry, because this call changed nothing. */
  unaudited(): void
}

/**
 * A data-plane route. It runs ingress → authenticate → access → handler → egress → settle → settled. With `decode` it is an operation:
 * the whole pipeline runs when there is no handler, or when the handler returns undefined.
 */
export interface DataRoute<O extends Operation = Operation> {
  method: 'GET' | 'POST' | 'DELETE'
  /** Compared byte for byte. A path that ends in `*` is a prefix of everything that `accepts` returns true for. */
  path: string
  /** OpenAPI template of a prefix; default: the prefix and `{id}`. */
  template?: string
  /** Returns whether the undecoded rest after a prefix (never empty) is a valid name; default: true. */
  accepts?(rest: string): boolean
  operation: O
  /** Limit of the body in bytes; default 2 MiB. */
  bodyLimit?: number
  /** Virtual models that this route accepts. */
  models: ModelKind
  /** Which client-key restrictions apply: allow-list and rate limits, rate limits only, or none. */
  scope: KeyScope
  /** True: the route needs a valid client key even where anonymous calls are allowed. */
  keyRequired?: boolean
  /** False: OpenAPI leaves the route out, because it cannot describe it. */
  documented?: false
  /** For OpenAPI. */
  summary?: string
  body?: ZodType
  response?: ZodType
  decode?(ctx: RequestContext<O>, body: WireBody): RequestOf<O>
  handler?(ctx: RequestContext<O>): Awaitable<Result | undefined>
}

/** Services that plugins offer each other, by token; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface Services {}

/** Events by dotted type; widened like Services. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface EventMap {}

/** The series of one metric by label values, each created on first use. Label values must come from a closed set. */
export interface Tally {
  series(...labelValues: string[]): TallySeries
}

export interface TallySeries {
  /** Adds to a counter or observes in a histogram. */
  add(value: number): void
}

export interface MetricsFactory {
  /**
   * Names get the prefix `gateway_`, unless they begin with `gen_ai_` (OpenTelemetry). Label values must come from the registry, never
   * from a request.
   */
  counter(name: string, help: string, labels?: string[]): Counter
  /** @param across what makes one value of those of several workers; default their sum. */
  gauge(name: string, help: string, labels?: string[], across?: 'sum' | 'max'): Gauge
  histogram(name: string, help: string, labels?: string[], buckets?: number[]): Histogram
  /** For values counted on every request: a counter, or with `buckets` a histogram, at the cost of one addition. */
  tally(name: string, help: string, labels: readonly string[], buckets?: readonly number[]): Tally
}

export interface InvokeOptions {
  operation: Operation
  /** The name of the caller: `fusion`, `probe`, `semantic-cache` … */
  source: string
  parent?: RequestContext
  /** The target of the call; with it `resolve` is skipped. */
  target?: Target
  role?: 'panel' | 'judge' | 'step'
  /** True: the parent's answer also carries the warnings of this call. */
  warns?: boolean
  orgId?: number | null
  signal?: AbortSignal
  /** Called with the outcome when the call is settled. A call with a parent settles with its parent, and this is not called. */
  settled?(outcome: Outcome): void
}

export interface AddHook {
  <K extends ContextHook, O extends Operation>(name: K, fn: HookFor<K, O>, options: OperationHookOptions<O>): void
  <K extends keyof GatewayHooks>(name: K, fn: GatewayHooks[K], options?: HookOptions): void
}

export interface PluginGateway<S extends Record<string, ZodType> = Record<never, ZodType>> {
  readonly profile: 'local' | 'cloud'
  readonly log: Logger
  readonly clock: Clock
  /**
   * HTTP to the public internet, for URLs that callers, models or upstreams chose; never for provider calls. It uses
   * GATEWAY_OUTBOUND_PROXY. Rejects with a GatewayError 400 for an address that is not public, also behind a redirect.
   */
  readonly http: $Fetch
  /** HTTP without that guard and proxy, for addresses that the operator configured. */
  readonly internalHttp: $Fetch
  /** Keys get the prefix `plugin:<name>:`. */
  readonly storage: KeyValueStore
  /** Throws when the gateway has no database. */
  readonly db: Db
  /**
   * Returns `fn` such that its statements see the rows of every organization. In multi-tenant mode on PostgreSQL, a route's handler and
   * everything it starts see only the caller's; timers, views, jobs and calls to the data plane are detached already. Use it for work
   * that a handler starts for everyone: a queue, a cache.
   */
  readonly detached: TenantWall['detached']
  /** Seals under the plugin's own name: no other plugin can open the value. Throws when the gateway has no master key. */
  readonly vault: Vault
  /** Keys get a prefix for each plugin. */
  readonly counters: Counters
  readonly metrics: MetricsFactory
  readonly settings: {
    /** The gateway's value, or the one that holds for an organization. */
    get<K extends keyof S & string>(key: K, orgId?: number | null): z.output<S[K]>
    /**
     * Calls `fn` after a change. `orgId` is null for the gateway's value; a number only for a setting with
     * `.meta({ scope: 'organization' })`, when an organization sets or resets a value of its own, or when it inherits no more.
     */
    watch<K extends keyof S & string>(key: K, fn: (value: z.output<S[K]>, orgId: number | null) => void): void
    /**
     * Returns a function for the hot path. It compiles the settings once per change, and once more for each organization that has values
     * of its own; all others share the gateway's.
     */
    compiled<T>(
      compile: (get: <K extends keyof S & string>(key: K) => z.output<S[K]>, orgId: number | null) => T,
    ): (orgId: number | null) => T
  }
  readonly events: {
    /** Emits an event: synchronous, typed, never throws to the emitter. */
    emit<K extends keyof EventMap>(type: K, data: EventMap[K], at?: { orgId?: number | null }): void
    on<K extends keyof EventMap>(type: K, fn: (data: EventMap[K], event: { readonly orgId: number | null }) => void): void
  }
  /** With `operation`, request and answer have the types of these operations. Without it the hook runs for every operation. */
  hook: AddHook
  slot<T>(): Slot<T>
  provide<K extends keyof Services>(token: K, service: Services[K]): void
  use<K extends keyof Services>(token: K): Services[K]
  /** A service that may be absent. Call this in setup and the returned function on use: the provider may be set up later. */
  optional<K extends keyof Services>(token: K): () => Services[K] | undefined
  api<P extends ZodType, Q extends ZodType, B extends ZodType, R extends ZodType>(route: ApiRoute<P, Q, B, R>): void
  data<O extends Operation>(route: DataRoute<O>): void
  /** Shows figures of the plugin in the dashboard. Register the panel's route first. @throws Error for a malformed panel */
  panel(panel: Panel): void
  /** Adds a page of the plugin to the dashboard. Register the routes that it calls first. @throws Error for a malformed page */
  page(page: PluginPage): void
  /** Rows in memory, updated across processes. `name` is scoped to the plugin. `renew` is for many rows: see `View.write`. */
  view<T>(name: string, load: (db: Db) => Promise<T>, renew?: Renew<T>): Promise<View<T>>
  /** Registers rows that the configuration file may declare. */
  resource<T>(kind: ResourceKind<T>): void
  /** Rows made through the API that an export holds. */
  portable<T>(kind: PortableKind<T>): void
  /**
   * Makes an internal call. With `parent` it is a step of that request: only resolve … response run, its usage is added to the parent,
   * and the parent settles. Without `parent` it settles on its own under `source`.
   */
  invoke(request: CanonicalRequest, options: InvokeOptions): Promise<Result>
  live(): Iterable<LiveRequest>
  /**
   * Runs a job periodically: with a jitter of 10 %, never two runs at once, stopped on teardown. `once`: of several workers that serve one
   * address, only one runs it. Replicas on other machines run it, too.
   */
  every(name: string, ms: number, job: (signal: AbortSignal) => Promise<void>, options?: { once?: boolean }): void
}

export type Teardown = void | (() => Awaitable<void>)

export interface PluginDefinition<C extends ZodObject = ZodObject, S extends Record<string, ZodType> = Record<never, ZodType>> {
  /** kebab-case; the prefix of storage, tables and counters. */
  name: string
  /** Shown by `GET /api/plugins`; default: the version of its package. */
  version?: string
  /** Names of plugins or service tokens that are set up first. */
  requires?: string[]
  /** A field may carry `.meta({ env: 'PUBLIC_URL' })`: its value is that variable of the core or of another plugin. */
  config?: C
  settings?: S
  /**
   * Environment variables that set options or settings, by name without the prefix GATEWAY_. Type, range and default come from the
   * schema. A name that the core or another plugin declares is a boot error.
   */
  variables?: Readonly<Record<string, PluginVariable<keyof C['shape'] & string, keyof S & string>>>
  migrations?: Migration[]
  events?: Partial<Record<keyof EventMap, { defaultOn: boolean }>>
  /**
   * Returns what the gateway needs before any setup: providers, dialects, secret resolvers, storage drivers. Called at the boot, and at a
   * reload that changed the plugin or its options. Start no work here.
   */
  offers?(config: z.output<C>, host: OfferHost): Offers
  setup(gateway: PluginGateway<S>, config: z.output<C>): Awaitable<Teardown>
}

/** The source of a plugin: hookgate itself, an npm package, a file, or code that passed it to the configuration. */
export interface PluginOrigin {
  readonly kind: 'hookgate' | 'package' | 'file' | 'code'
  /** The package name, or the path as written in the configuration file. */
  readonly specifier?: string
  /** The version of the package that contains it. */
  readonly version?: string
}

export interface Plugin {
  readonly name: string
  /** The plugin API that it was made for; its `definePlugin` sets it. */
  readonly apiVersion: number
  readonly requires: readonly string[]
  /** Set when a configuration file names the plugin. */
  readonly origin?: PluginOrigin
  // biome-ignore lint/suspicious/noExplicitAny: erased here, checked where definePlugin is called
  readonly definition: PluginDefinition<any, any>
  readonly options: unknown
}

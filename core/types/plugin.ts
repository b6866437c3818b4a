// The plugin API.
import type { $Fetch } from 'ofetch'
import type { Counter, Gauge, Histogram } from 'prom-client'
import type { ZodObject, ZodType, z } from 'zod'
import type { Awaitable, CanonicalRequest, Operation } from './canonical.ts'
import type { KeyScope, LiveRequest, ModelKind, RequestContext, RequestOf, Slot, Target } from './context.ts'
import type { Db, Migration, View } from './db.ts'
import type { WireBody } from './dialect.ts'
import type { GatewayHooks, HookOptions } from './hooks.ts'
import type { Operator, Role } from './operator.ts'
import type { PortableKind } from './portable.ts'
import type { Clock, Counters, KeyValueStore, Logger, Peer, Vault } from './ports.ts'
import type { ResourceKind } from './resource.ts'
import type { Result } from './result.ts'
import type { PluginVariable } from './variables.ts'

/** A control-plane route: zod in, zod out. */
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
  /** Default `member` for GET, `manage` otherwise. */
  role?: Role
  /** Status of the answer; default 200. */
  status?: number
  params?: P
  /** A parameter whose field is an array gets its values as they are repeated; any other may be given once. */
  query?: Q
  body?: B
  /** Schema of a JSON answer; documented in OpenAPI, asserted in tests. */
  response?: R
  /** Other statuses that answer something else than the error envelope; for OpenAPI. */
  responses?: Readonly<Record<number, ZodType>>
  /** Action of the audit entry written when the handler has answered: `key.create`. Routes that write must say; false: changes nothing. */
  audit?: string | false
  /** Elsewhere the route is 404. */
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
  /** The target of the audit entry: by default the path's `id`, else the answer's `id`. */
  audited(target: string | number, details?: Record<string, unknown>): void
}

/**
 * A data-plane route. Runs ingress → authenticate → access → handler → egress → settle → settled;
 * with `decode` it is an operation: the whole pipeline runs and there is no handler.
 */
export interface DataRoute<O extends Operation = Operation> {
  method: 'GET' | 'POST'
  /** Byte for byte; one that ends in `*` is a prefix of whatever `accepts`. */
  path: string
  /** Whether the undecoded rest after a prefix (never empty) is a valid name; default: true. */
  accepts?(rest: string): boolean
  operation: O
  /** Bytes; default 2 MiB. */
  bodyLimit?: number
  /** Virtual models that this route accepts. */
  models: ModelKind
  /** Which client-key restrictions apply: allow-list and rate limits, rate limits only, or none. */
  scope: KeyScope
  /** True: a valid client key is needed even where anonymous calls are allowed. */
  keyRequired?: boolean
  /** For OpenAPI. */
  summary?: string
  body?: ZodType
  response?: ZodType
  decode?(ctx: RequestContext<O>, body: WireBody): RequestOf<O>
  handler?(ctx: RequestContext<O>): Awaitable<Result>
}

/** Plugin-to-plugin services by token; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface Services {}

/** Events by dotted type; widened like Services. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface EventMap {}

/** Series of one metric by label values, made on first use; values must come from a closed set. */
export interface Tally {
  series(...labelValues: string[]): TallySeries
}

export interface TallySeries {
  /** Counters add, histograms observe. */
  add(value: number): void
}

export interface MetricsFactory {
  /** Names are prefixed `gateway_`, unless they begin with `gen_ai_` (OpenTelemetry); label values must come from the registry, never from a request. */
  counter(name: string, help: string, labels?: string[]): Counter
  gauge(name: string, help: string, labels?: string[]): Gauge
  histogram(name: string, help: string, labels?: string[], buckets?: number[]): Histogram
  /** For what is counted on every request: a counter, or with `buckets` a histogram, at the cost of an addition. */
  tally(name: string, help: string, labels: readonly string[], buckets?: readonly number[]): Tally
}

export interface InvokeOptions {
  operation: Operation
  /** The caller: `fusion`, `probe`, `semantic-cache` … */
  source: string
  parent?: RequestContext
  /** Skips resolve. */
  target?: Target
  role?: 'panel' | 'judge' | 'step'
  orgId?: number | null
  signal?: AbortSignal
}

export interface PluginGateway<S extends Record<string, ZodType> = Record<never, ZodType>> {
  readonly profile: 'local' | 'cloud'
  readonly log: Logger
  readonly clock: Clock
  /**
   * HTTP to the public internet, for URLs that callers, models or upstreams chose; never for provider calls. Goes through
   * GATEWAY_OUTBOUND_PROXY. Rejects with a GatewayError 400 for an address that is not public, also behind a redirect.
   */
  readonly http: $Fetch
  /** HTTP without that guard and proxy, for addresses that the operator configured. */
  readonly internalHttp: $Fetch
  /** Prefixed `plugin:<name>:`. */
  readonly storage: KeyValueStore
  /** Throws when the gateway has no database. */
  readonly db: Db
  /** Under the plugin's own name: what one plugin sealed, another cannot open. Throws when the gateway has no master key. */
  readonly vault: Vault
  /** Prefixed by plugin. */
  readonly counters: Counters
  readonly metrics: MetricsFactory
  readonly settings: {
    get<K extends keyof S & string>(key: K): z.output<S[K]>
    watch<K extends keyof S & string>(key: K, fn: (value: z.output<S[K]>) => void): void
  }
  readonly events: {
    /** Synchronous, typed, never throws to the emitter. */
    emit<K extends keyof EventMap>(type: K, data: EventMap[K], at?: { orgId?: number | null }): void
    on<K extends keyof EventMap>(type: K, fn: (data: EventMap[K], event: { readonly orgId: number | null }) => void): void
  }
  hook<K extends keyof GatewayHooks>(name: K, fn: GatewayHooks[K], options?: HookOptions): void
  slot<T>(): Slot<T>
  provide<K extends keyof Services>(token: K, service: Services[K]): void
  use<K extends keyof Services>(token: K): Services[K]
  /** A service that may not be there. Ask in setup, look when it is needed: its provider may be set up later. */
  optional<K extends keyof Services>(token: K): () => Services[K] | undefined
  api<P extends ZodType, Q extends ZodType, B extends ZodType, R extends ZodType>(route: ApiRoute<P, Q, B, R>): void
  data<O extends Operation>(route: DataRoute<O>): void
  /** Rows kept in memory and followed across processes; `name` under the plugin's own. */
  view<T>(name: string, load: (db: Db) => Promise<T>): Promise<View<T>>
  /** Rows that the configuration file may declare. */
  resource<T>(kind: ResourceKind<T>): void
  /** Rows made through the API that an export holds. */
  portable<T>(kind: PortableKind<T>): void
  /**
   * An internal call. With `parent`: a step of it (resolve … response only; usage rolls up, the parent settles).
   * Without: it settles on its own under `source`.
   */
  invoke(request: CanonicalRequest, options: InvokeOptions): Promise<Result>
  live(): Iterable<LiveRequest>
  /** Jittered by 10 %; stopped on teardown; never two runs at once. */
  every(name: string, ms: number, job: (signal: AbortSignal) => Promise<void>): void
}

export type Teardown = void | (() => Awaitable<void>)

export interface PluginDefinition<C extends ZodObject = ZodObject, S extends Record<string, ZodType> = Record<never, ZodType>> {
  /** kebab-case; prefixes storage, tables and counters. */
  name: string
  /** Shown by `GET /api/plugins`; default: the version of its package. */
  version?: string
  /** Names of plugins or service tokens: they are set up first. */
  requires?: string[]
  /** A field may carry `.meta({ env: 'PUBLIC_URL' })`: it is taken from that variable of the core, or of another plugin. */
  config?: C
  settings?: S
  /**
   * Environment variables that set options or settings, by name without the prefix GATEWAY_. Type, range and default come from the
   * schema. A name that the core or another plugin declares stops the boot.
   */
  variables?: Readonly<Record<string, PluginVariable<keyof C['shape'] & string, keyof S & string>>>
  migrations?: Migration[]
  events?: Partial<Record<keyof EventMap, { defaultOn: boolean }>>
  setup(gateway: PluginGateway<S>, config: z.output<C>): Awaitable<Teardown>
}

/** Where a plugin is from: hookgate itself, an npm package, a file, or code that passed it to the configuration. */
export interface PluginOrigin {
  readonly kind: 'hookgate' | 'package' | 'file' | 'code'
  /** The package, or the path as the configuration file has it. */
  readonly specifier?: string
  /** The version of the package that it lies in. */
  readonly version?: string
}

export interface Plugin {
  readonly name: string
  /** The plugin API it was made for: that of the `definePlugin` that made it. */
  readonly apiVersion: number
  readonly requires: readonly string[]
  /** Set when a configuration file names the plugin. */
  readonly origin?: PluginOrigin
  // biome-ignore lint/suspicious/noExplicitAny: erased here, checked where definePlugin is called
  readonly definition: PluginDefinition<any, any>
  readonly options: unknown
}

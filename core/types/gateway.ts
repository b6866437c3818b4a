// The assembled gateway and the ports it is built from.
import type { Awaitable } from './canonical.ts'
import type { Database, Spool } from './db.ts'
import type { DialectDriver, ModelCaps } from './dialect.ts'
import type { HostContext, ServedParts } from './host.ts'
import type {
  Clock,
  Counters,
  HealthCheck,
  Ingress,
  KeyValueStore,
  Logger,
  OutboundGuard,
  OutboundPost,
  Peer,
  Sink,
  Transport,
  Vault,
  VectorStore,
} from './ports.ts'
import type { Provider } from './provider.ts'

/** Facts of an embedding server about a request. */
export interface FetchOptions extends Partial<Peer> {
  /** Read by plugins as `ctx.host`. */
  context?: HostContext
  /** Removed from the front of the path. */
  prefix?: string
  /** Parts of the control plane that are 404 here. */
  serve?: ServedParts
}

export interface Gateway {
  /** Both planes, any runtime. Bound, so that `app.mount('/llm', gateway)` works. */
  readonly fetch: (request: Request, options?: FetchOptions) => Promise<Response>
  /** Data plane. Never throws or rejects; resolves when the exchange is settled. */
  handle(ingress: Ingress, sink: Sink): Promise<void>
  /** True when the path is handle()'s (`/v1/`, `/v1beta/`). */
  owns(path: string): boolean
  /** H3 app of the current generation: health, metrics, /api. */
  readonly control: { fetch(request: Request, peer: Peer): Awaitable<Response> }
  /** A new generation; on any failure the old one keeps serving and the promise rejects. */
  reload(config: object): Promise<void>
  /** Readiness 503 at once; waits for running requests, then ends streams with their error frame. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

export interface Ports {
  transport: Transport
  dialects: readonly DialectDriver[]
  providers: readonly Provider[]
  /** Facts by the family in a model's name, for custom providers; null: it tells none. Absent: nothing is known of their models. */
  modelCaps?(model: string): ModelCaps | null
  /** Absent: a plugin with migrations refuses to boot. */
  db?: Database
  /** Absent: a plugin that keeps secrets refuses to boot. */
  vault?: Vault
  /** Fetches media a target cannot fetch itself, behind the outbound guard; rejects with a GatewayError 400. */
  fetchMedia?(url: string, signal: AbortSignal): Promise<{ mime: string; data: string }>
  /** Settlements that the database would not take, replayed at the next boot. Absent: they are retried, then logged and lost. */
  spool?: Spool
  health?: readonly HealthCheck[]
  /** Absent: no URL of an administrator is checked for where it leads. */
  outbound?: OutboundGuard
  /** `gateway.http` of plugins; refuses addresses that are not public. Absent: the global fetch, unguarded. */
  guardedFetch?: typeof globalThis.fetch
  /** Absent: webhooks and alerts cannot be sent. */
  outboundPost?: OutboundPost
  storage?: KeyValueStore
  counters?: Counters
  /** Shared between replicas; absent: each keeps its own vectors in memory. */
  vectors?: VectorStore
  clock?: Clock
  log?: Logger
  /** For `secret.file` references; null when the file cannot be read. */
  readFile?(path: string): string | null
  /** Environment for GATEWAY_*; default: none. Hosts pass process.env. */
  env?: Readonly<Record<string, string | undefined>>
  /** Closes the stores that a host opened for this gateway; last of all. */
  close?(): Promise<void>
}

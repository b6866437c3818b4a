// Types of the assembled gateway and of the ports it is built from.

import type { FormBody, OperationDriver } from './operations/operation.ts'
import type { HookTracer } from './plugin/hook-tracer.ts'
import type { Database, Spool } from './ports/db.ts'
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
} from './ports/ports.ts'
import type { Processes } from './ports/processes.ts'
import type { Provider } from './ports/provider.ts'
import type { Siblings } from './ports/siblings.ts'
import type { Simulator } from './ports/simulation.ts'
import type { PageReader } from './ports/web-page.ts'
import type { Awaitable } from './request/canonical.ts'
import type { Outcome } from './request/context.ts'
import type { DialectDriver, ModelCaps } from './request/dialect.ts'
import type { ControlPlace, HostContext, ServedParts } from './request/host.ts'

/** Facts from an embedding server about a request. */
export interface FetchOptions extends Partial<Peer> {
  /** Plugins read it as `ctx.host`. */
  context?: HostContext
  /** The mount path; it is removed from the front of the path. */
  prefix?: string
  /** The parts of the control plane that are served; the others answer 404. */
  serve?: ServedParts
  /** Called once when a data-plane request is settled, with its usage and cost; null: no route took it. It must not throw. */
  settled?(outcome: Outcome | null): void
}

export interface Gateway {
  /** Serves both planes on any runtime. It is bound, so that `app.mount('/llm', gateway)` works. */
  readonly fetch: (request: Request, options?: FetchOptions) => Promise<Response>
  /** Serves the data plane. Never throws or rejects; resolves when the exchange is settled; null: no route took it. */
  handle(ingress: Ingress, sink: Sink): Promise<Outcome | null>
  /** True when handle() serves the path (`/v1/`, `/v1beta/`). */
  owns(path: string): boolean
  /** The H3 app of the current generation: health, metrics, /api. */
  readonly control: { fetch(request: Request, peer: Peer, at?: ControlPlace): Awaitable<Response> }
  /** Builds a new generation. On any failure the old one keeps serving and the promise rejects. */
  reload(config: object): Promise<void>
  /** Sets readiness to 503 at once, waits for running requests, then ends streams with their error frame. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

export interface Ports {
  transport: Transport
  dialects: readonly DialectDriver[]
  /** Operations other than chat. Absent: none is served. */
  operations?: readonly OperationDriver[]
  providers: readonly Provider[]
  /**
   * Returns facts by the family in a model's name, for custom providers; null: the name shows no family. Absent: their models have no
   * known facts.
   */
  modelCaps?(model: string): ModelCaps | null
  /** Absent: plugins with migrations refuse to boot. */
  db?: Database
  /** Absent: plugins that store secrets refuse to boot. */
  vault?: Vault
  /** Fetches media that a target cannot fetch, through the outbound guard. Rejects with a GatewayError 400. */
  fetchMedia?(url: string, signal: AbortSignal): Promise<{ mime: string; data: string }>
  /** Absent: `/v1/web/fetch` answers 503. */
  readPage?: PageReader
  /** Absent: `/api/simulate` answers 503. */
  simulate?: Simulator
  /** Gets each run of a plugin's handler. It costs time on every request: for development. */
  hookTracer?: HookTracer
  /**
   * Reads a multipart form without a copy of its files. @throws GatewayError 400 for a broken form. Absent: routes with uploads answer
   * 501.
   */
  readForm?(chunks: AsyncIterable<Uint8Array>, contentType: string): Promise<FormBody>
  /**
   * Stores settlements that the database did not accept and replays them at the next boot. Absent: they are retried, then logged and
   * lost.
   */
  spool?: Spool
  health?: readonly HealthCheck[]
  /** Absent: addresses that administrators enter are not checked. */
  outbound?: OutboundGuard
  /** `gateway.http` of plugins; it refuses addresses that are not public. Absent: the global fetch, unguarded. */
  guardedFetch?: typeof globalThis.fetch
  /** Absent: webhooks and alerts cannot be sent. */
  outboundPost?: OutboundPost
  storage?: KeyValueStore
  counters?: Counters
  /** Shared between replicas. Absent: each replica keeps its own vectors in memory. */
  vectors?: VectorStore
  /** The processes that serve one address together with this one. Absent: it serves alone, or as one of several replicas. */
  siblings?: Siblings
  /** Absent: every process counts as running. */
  processes?: Processes
  clock?: Clock
  log?: Logger
  /** Reads `secret.file` references; null when the file cannot be read. */
  readFile?(path: string): string | null
  /** The environment for GATEWAY_*; default: none. Hosts pass process.env. */
  env?: Readonly<Record<string, string | undefined>>
  /** Closes the stores that a host opened for this gateway. It is called last. */
  close?(): Promise<void>
}

// Services that core itself uses or provides; plugins widen `Services` further.

import type { ZodType } from 'zod'
import type { Configuration } from './config/configuration.ts'
import type { LiveRequest, RequestContext } from './types/context.ts'
import type { Operator } from './types/operator.ts'
import type { HeaderBag, HealthCheck, OutboundGuard, Peer } from './types/ports.ts'
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
  /** At most 1 MiB. */
  readonly body: Uint8Array
}

/** GETs beside the pipeline: a vendor's lists and meters, and whether a proxy carries. Nothing is booked. */
export interface SideCalls {
  /**
   * With the address, key, headers and proxy of a connection. `path` as `/key`; a status is an answer.
   * @throws GatewayError when there was none within `timeoutMs`; free of secrets.
   */
  get(connection: Connection, path: string, timeoutMs: number): Promise<SideAnswer>
  /** To any address, with no credential. */
  through(proxyUrl: string | null, url: string, timeoutMs: number): Promise<SideAnswer>
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
    operators: OperatorService
    audit: AuditLog
    settings: SettingsService
    outbound: OutboundGuard
    proxies: ProxyService
    sideCalls: SideCalls
  }
}

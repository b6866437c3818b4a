// Services that core itself uses or provides; plugins widen `Services` further.

import type { ConfiguredConnection } from './config/connections.ts'
import type { LiveRequest, RequestContext } from './types/context.ts'
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

/** The state of this process, for health routes. */
export interface GatewayStatus {
  readonly version: string
  readonly profile: 'local' | 'cloud'
  /** `draining` from the first drain() on. */
  readonly state: 'serving' | 'draining'
  readonly startedAt: number
  live(): Iterable<LiveRequest>
}

/** Prometheus exposition of this gateway's registry. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** What the configuration file declares, checked and with secrets resolved. A new object after a reload that changed it. */
export interface Configuration {
  readonly connections: readonly ConfiguredConnection[]
  /** Provider alias → id. */
  providerId(idOrAlias: string): string
}

/** A readiness dependency (database, shared store); /healthz and /health/readiness ask all of them. */
export interface HealthCheck {
  readonly name: string
  check(): Promise<'ok' | 'degraded' | 'down'>
}

declare module './types/plugin.ts' {
  interface Services {
    connections: ConnectionService
    configuration: Configuration
    status: GatewayStatus
    exposition: Exposition
  }
}

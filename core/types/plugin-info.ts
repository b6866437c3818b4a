// An entry of the service `plugins`.
import type { PluginOrigin } from './plugin.ts'

export interface PluginInfo {
  readonly name: string
  /** The version of the plugin or of its package; null when neither says one. */
  readonly version: string | null
  readonly origin: PluginOrigin
  readonly apiVersion: number
  /** Number of the generation that it was set up in. A reload that keeps it does not change this. */
  readonly generation: number
  readonly hooks: readonly string[]
  /** `GET /api/keys` */
  readonly routes: readonly string[]
  readonly services: readonly string[]
  /** `degraded` for five minutes after a failure of one of its hooks. */
  readonly state: 'running' | 'degraded'
  /** Failures of its hooks since the gateway started. */
  readonly errors: number
  readonly lastError: { readonly hook: string; readonly at: number } | null
}

// The type of an entry of the service `plugins`.
import type { PluginOrigin } from './plugin.ts'

export interface PluginInfo {
  readonly name: string
  /** The version of the plugin or of its package; null when neither states one. */
  readonly version: string | null
  readonly origin: PluginOrigin
  readonly apiVersion: number
  /** Number of the generation that set the plugin up. A reload that keeps the plugin does not change it. */
  readonly generation: number
  readonly hooks: readonly string[]
  /** For example `GET /api/keys`. */
  readonly routes: readonly string[]
  readonly services: readonly string[]
  /** `degraded` for five minutes after a failure of one of its hooks. */
  readonly state: 'running' | 'degraded'
  /** Failures of the plugin's hooks since the gateway started. */
  readonly errors: number
  readonly lastError: { readonly hook: string; readonly at: number } | null
}

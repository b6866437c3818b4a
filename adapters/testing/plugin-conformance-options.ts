// How a plugin is put through the conformance kit.
import type { Plugin } from '../../core/types/plugin.ts'
import type { Reply } from './replies/reply.ts'

export interface PluginConformanceOptions {
  /** Plugins it needs, listed before it, behind the preset. Created for each gateway. */
  beside?: () => Plugin[]
  /** GATEWAY_* without the prefix. */
  env?: Record<string, string>
  /** Upstream answers by name; default: CONTRACT_REPLIES. */
  recordings?: Readonly<Record<string, Reply>>
  /** Latency that the plugin may add to a request, ms, median; default 2. */
  latencyMs?: number
}

// Options of the conformance kit for one plugin.
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { Reply } from '../replies/reply.ts'

export interface PluginConformanceOptions {
  /** Plugins that it needs, listed after the preset and before it. Created for each gateway. */
  beside?: () => Plugin[]
  /** GATEWAY_* without the prefix. */
  env?: Record<string, string>
  /** Upstream answers by name; default: KIT_REPLIES. */
  recordings?: Readonly<Record<string, Reply>>
  /** Latency that the plugin may add to a request, ms, median; default 2. */
  latencyMs?: number
  /**
   * Why the plugin answers a stream in another way than a whole request, for example because it changes whole answers only. With a
   * reason the two are not compared.
   */
  streamDiffers?: string
}

// createGateway for runtimes with web standards only: fetch() as transport, all state in memory, no file and no thread.
import type { GatewayConfig } from '../../core/config/define.ts'
import { type CreateOptions, createGateway as createCore, type HostedGateway } from '../../core/gateway.ts'
import type { Ports } from '../../core/types/gateway.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import { countTokens } from '../../plugins/count-tokens/index.ts'
import { health } from '../../plugins/health/index.ts'
import { itemIds } from '../../plugins/item-ids/index.ts'
import { stripUnsupported } from '../../plugins/strip-unsupported/index.ts'
import { chatDialect } from '../dialects/chat/index.ts'
import { converseDialect } from '../dialects/converse/index.ts'
import { generateContentDialect } from '../dialects/generate-content/index.ts'
import { messagesDialect } from '../dialects/messages/index.ts'
import { responsesDialect } from '../dialects/responses/index.ts'
import { operations } from '../operations/index.ts'
import { familyCaps } from '../providers/caps/family.ts'
import { builtInProviders } from '../providers/index.ts'
import { checkedFetch, checkedMedia, checkedPost } from '../transport/checked-fetch.ts'
import { fetchTransport } from '../transport/fetch.ts'
import { checkOutboundUrl } from '../transport/outbound-url.ts'
import { declaredConnections } from './declared-connections.ts'

export interface EdgeOptions extends CreateOptions {
  /** Sends every call; default: the global one. */
  fetch?: typeof globalThis.fetch
}

/** The built-in plugins that need no database, no file and no thread. */
export function edgePreset(): Plugin[] {
  return [declaredConnections(), stripUnsupported(), itemIds(), countTokens(), health()]
}

/**
 * Call it inside a request or a Durable Object: Workers refuse random numbers and timers before. A configuration without `plugins` gets
 * `edgePreset()`.
 * @throws Error naming the invalid entry, variable or plugin.
 */
export function createGateway(
  config: GatewayConfig = {},
  ports: Partial<Ports> = {},
  { fetch = globalThis.fetch, ...create }: EdgeOptions = {},
): Promise<HostedGateway> {
  const complete = config.plugins === undefined ? { ...config, plugins: edgePreset() } : config
  return createCore(
    complete,
    {
      transport: fetchTransport({ fetch }),
      dialects: [chatDialect, messagesDialect, responsesDialect, generateContentDialect, converseDialect],
      operations,
      providers: builtInProviders,
      modelCaps: familyCaps,
      fetchMedia: checkedMedia(fetch),
      outbound: { check: checkOutboundUrl },
      outboundPost: checkedPost(fetch),
      guardedFetch: checkedFetch(fetch),
      ...ports,
    },
    create,
  )
}

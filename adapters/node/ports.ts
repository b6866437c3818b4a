// The default ports on Node: undici, the four dialects, the provider registry. Stores that need no file are in memory.
import type { Env } from '../../core/config/env.ts'
import type { Ports } from '../../core/types/gateway.ts'
import { chatDialect } from '../dialects/chat/index.ts'
import { converseDialect } from '../dialects/converse/index.ts'
import { generateContentDialect } from '../dialects/generate-content/index.ts'
import { messagesDialect } from '../dialects/messages/index.ts'
import { responsesDialect } from '../dialects/responses/index.ts'
import { operations } from '../operations/index.ts'
import { familyCaps } from '../providers/caps/family.ts'
import { builtInProviders } from '../providers/index.ts'
import { mediaFetcher } from '../transport/fetch-media.ts'
import { guardedFetch } from '../transport/guarded-fetch.ts'
import { outboundPost } from '../transport/outbound-post.ts'
import { checkOutboundUrl } from '../transport/outbound-url.ts'
import { undiciTransport } from '../transport/undici.ts'
import { pageReader } from '../web-fetch/index.ts'
import { processes } from './processes.ts'

/** The dialects that callers speak. */
export const dialects = [chatDialect, messagesDialect, responsesDialect, generateContentDialect]

/** @param env already read, for the pool's variables. */
export function nodePorts(env: Env, environment: Ports['env']): Ports {
  return {
    transport: undiciTransport({
      maxIdlePerHost: env.get<number>('UPSTREAM_POOL_MAX_IDLE_PER_HOST'),
      tcpKeepAliveSecs: env.get<number>('UPSTREAM_TCP_KEEPALIVE_SECS'),
    }),
    dialects: [...dialects, converseDialect],
    operations,
    providers: builtInProviders,
    modelCaps: familyCaps,
    fetchMedia: mediaFetcher(),
    // Few gateways read forms, which need a package of their own.
    readForm: async (chunks, contentType) => (await import('./server/read-form.ts')).readForm(chunks, contentType),
    readPage: pageReader(),
    outbound: { check: checkOutboundUrl },
    outboundPost: outboundPost(),
    processes,
    guardedFetch: guardedFetch({ proxyUrl: env.get<string | null>('OUTBOUND_PROXY') }),
    env: environment,
  }
}

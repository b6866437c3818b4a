// Path, headers and the required output limit of a call, in both lanes.
import type { CanonicalRequest, Frozen } from '../../../../core/types/canonical.ts'
import type { CodecContext, ModelCaps, WireBody } from '../../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../../core/types/ports.ts'
import { fitIds } from '../../shared/long-ids.ts'
import type { WireMessage } from './encode-turns.ts'
import { dropForeignThinking } from './foreign-thinking.ts'

/** Keeps sampling parameters legal on the models that still take them. */
const VERSION = '2023-06-01'
const FILES_BETA = 'files-api-2025-04-14'
const MOST_BY_DEFAULT = 32_000
const UNKNOWN_MODEL = 8192

export function requestPath(codec: CodecContext): string {
  return codec.operation === 'count_tokens' ? '/v1/messages/count_tokens' : '/v1/messages'
}

/** max_tokens is required here and nowhere else. */
export function defaultMaxTokens(caps: Readonly<ModelCaps>): number {
  return caps.maxOutput === undefined ? UNKNOWN_MODEL : Math.min(caps.maxOutput, MOST_BY_DEFAULT)
}

export function requestHeaders(request: Frozen<CanonicalRequest>, messages: readonly WireMessage[]): string[] {
  const betas = request.source === 'messages' ? [...(request.headers.anthropicBeta ?? [])] : []
  if (messages.some(hasFile) && !betas.some((beta) => beta.startsWith('files-api'))) betas.push(FILES_BETA)
  return ['anthropic-version', VERSION, ...(betas.length > 0 ? ['anthropic-beta', betas.join(',')] : [])]
}

/** Byte lane: the caller's body with the upstream's model, and the caller's own version and betas. */
export function spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] } {
  // First: reading the bytes of an edited body would put them together at once.
  dropForeignThinking(body, codec)
  if (body.get('model') !== codec.model) body.set('model', codec.model)
  if (codec.quirks.idLimits !== undefined) fitIds(body, codec)
  const limit = codec.operation === 'chat' ? body.get('max_tokens') : 0
  if (limit === undefined || limit === null) body.set('max_tokens', defaultMaxTokens(codec.caps))
  const headers = ['anthropic-version', caller.get('anthropic-version') || VERSION]
  for (const name of ['anthropic-beta', 'idempotency-key']) {
    const value = caller.get(name)
    if (value !== null && value !== '') headers.push(name, value)
  }
  return { path: requestPath(codec), headers }
}

function hasFile({ content }: WireMessage): boolean {
  return content.some((block) => (block.source as { type?: unknown } | undefined)?.type === 'file')
}

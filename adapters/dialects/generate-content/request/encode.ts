// Encodes a canonical request as a generate-content call. Facts come only from codec.caps and codec.quirks.
import { entryOf } from '../../../../core/collections/entry-of.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { rawRequest } from '../../../../core/json/encoded-request.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/request/dialect.ts'
import { withLoadedTools } from '../../shared/deferred-tools.ts'
import { historyField } from '../../shared/history-field.ts'
import type { WirePart } from '../response/encode-parts.ts'
import { countBody } from './count-tokens.ts'
import { encodeConfig } from './encode-config.ts'
import { encodeContents, type WireContent } from './encode-contents.ts'
import { encodeTools } from './encode-tools.ts'
import { refuseUnsupported } from './refusals.ts'

const TIERS: Readonly<Record<string, string>> = {
  default: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  priority: 'priority',
}

/** @throws GatewayError.unsupported when this target does not support the request. */
export function encodeRequest(given: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest {
  const request = withLoadedTools(given, codec)
  refuseUnsupported(request, codec)
  // Tools come before contents: the declarations fix the names that the history uses.
  const { tools, toolConfig, hasFunctions } = encodeTools(request, codec)
  const { config, instruction } = encodeConfig(request, codec, hasFunctions)
  const contents = encodeContents(request, codec)
  const system = systemParts(request)
  if (contents.length === 0 && system.length === 0) {
    throw GatewayError.unsupported(historyField(request.source), 'There is nothing to send: every message is empty.')
  }
  if (instruction !== null) system.push({ text: instruction })
  if (contents.length === 0) contents.push({ role: 'user', parts: [{ text: 'Continue.' }] })
  if (codec.caps.systemInstruction === false && system.length > 0) prepend(system, contents)
  const tier = serviceTier(request, codec)
  const { generationConfig: _, toolConfig: __, ...own } = (request.ext.generate_content ?? {}) as JsonObject
  const wire = {
    ...own,
    ...(system.length > 0 && codec.caps.systemInstruction !== false ? { systemInstruction: { parts: system } } : {}),
    contents,
    ...(tools.length > 0 ? { tools } : {}),
    ...(toolConfig === undefined ? {} : { toolConfig }),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(tier === undefined ? {} : { serviceTier: tier }),
  }
  const path = requestPath(codec, request.stream)
  if (codec.operation === 'count_tokens') return { path, headers: [], body: wireBody(countBody(wire, codec)) }
  return rawRequest(path, [], wire, codec)
}

/** The model is percent-encoded; its slashes stay when the vendor's path may have several segments. Streams always request SSE. */
export function requestPath({ model, quirks, operation }: CodecContext, stream: boolean): string {
  const encoded = quirks.modelIsOneSegment ? encodeURIComponent(model) : model.split('/').map(encodeURIComponent).join('/')
  if (operation === 'count_tokens') return `/v1beta/models/${encoded}:countTokens`
  return `/v1beta/models/${encoded}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function systemParts(request: Frozen<CanonicalRequest>): WirePart[] {
  return request.system.flatMap((block) =>
    block.parts.flatMap((part) => (part.t === 'text' && part.text !== '' ? [{ text: part.text }] : [])),
  )
}

/** Models without systemInstruction get it at the start of the first user turn. */
function prepend(system: WirePart[], contents: WireContent[]): void {
  const first = contents[0] as WireContent
  contents[0] = { role: 'user', parts: [...system, ...first.parts] }
}

function serviceTier(request: Frozen<CanonicalRequest>, codec: CodecContext): string | undefined {
  const wanted = request.serviceTier
  if (wanted === undefined || wanted === 'auto') return undefined
  const tier = entryOf(TIERS, wanted)
  if (tier === undefined) codec.warn('dropped_service_tier')
  return tier
}

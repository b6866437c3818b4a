// Encodes a canonical request as a chat-completions request for an upstream.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { encodedRequest } from '../../../../core/json/encoded-request.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { withLoadedTools } from '../../shared/deferred-tools.ts'
import { refuseMcpServers, refuseReferences } from '../../shared/references.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeOptions, schemaInstruction } from './encode-options.ts'
import { encodeToolFields } from './encode-tools.ts'
import { applyModelRules, objectFields } from './model-rules.ts'

export const CHAT_PATH = '/v1/chat/completions'

type Request = Frozen<CanonicalRequest>

/** @throws GatewayError unsupported when the request needs a feature that no chat upstream, or not this one, has. */
export function encodeRequest(given: Request, codec: CodecContext): EncodedRequest {
  const request = withLoadedTools(given, codec)
  refuseServerState(request, codec)
  const options = encodeOptions(request, codec)
  const messages = encodeMessages(withInstruction(request, schemaInstruction(request, codec)), codec)
  const { stream_options: streamOptions, ...unknown } = (request.ext.chat ?? {}) as JsonObject
  const wire: JsonObject = { ...unknown, model: codec.model, messages, ...encodeToolFields(request, codec), ...options }
  if (request.stream) {
    wire.stream = true
    if (!codec.quirks.rejectsStreamOptions)
      wire.stream_options = { ...((streamOptions ?? {}) as JsonObject), include_usage: true }
  }
  applyModelRules(objectFields(wire), codec)
  return encodedRequest(CHAT_PATH, encodeHeaders(request), wire, codec)
}

/** Refuses state that is stored at another vendor, and requests that do not produce an answer. */
function refuseServerState(request: Request, codec: CodecContext): void {
  const { state, ext } = request
  if (request.source !== 'chat' && request.maxTokens === 0)
    throw GatewayError.unsupported(callerField('max_tokens', request.source), 'Warming a cache needs a messages target.')
  refuseReferences(request)
  if (state?.previousResponseId !== undefined) throw stateless('previous_response_id')
  if (state?.conversation !== undefined && state.conversation !== null) throw stateless('conversation')
  if (state?.background === true) throw stateless('background')
  if (state?.promptTemplate !== undefined && state.promptTemplate !== null) throw stateless('prompt')
  if (state?.thread !== undefined && state.thread !== null) throw stateless('thread')
  refuseMcpServers(request)
  if (ext.generate_content?.cachedContent) throw stateless('cachedContent')
  if (request.source === 'responses' && state?.contextManagement !== undefined) codec.warn('dropped_context_management')
}

function stateless(param: string): GatewayError {
  return GatewayError.unsupported(param, `\`${param}\` refers to state that this target does not hold.`)
}

function withInstruction(request: Request, instruction: string | null): Request {
  if (instruction === null) return request
  return { ...request, system: [...request.system, { role: 'system', parts: [{ t: 'text', text: instruction }] }] }
}

/** Returns the vendor's own headers, for callers who speak its dialect. */
function encodeHeaders(request: Request): string[] {
  const { openaiBeta, idempotencyKey } = request.headers
  if (request.source !== 'chat') return []
  return [
    ...(openaiBeta === undefined ? [] : ['openai-beta', openaiBeta]),
    ...(idempotencyKey === undefined ? [] : ['idempotency-key', idempotencyKey]),
  ]
}

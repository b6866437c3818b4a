// Builds the response object around the output: every member that the published schemas require, with the echo of the caller's request.
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject } from '../../shared/fields.ts'
import { openAiTier } from '../../shared/service-tier.ts'
import { encodeFormat } from '../request/encode-options.ts'
import { echoToolChoice, echoTools } from '../request/encode-tools.ts'

export interface ResponseHead {
  id: string
  created: number
  model: string
  status: string
  /** Seconds since the epoch; null while it is running and after a failure. */
  completed: number | null
  error: { code: string; message: string } | null
  incomplete: string | null
  serviceTier: string | undefined
}

/** Returns the members that change during a response, without output and usage. */
export function headMembers(head: ResponseHead, request: Frozen<CanonicalRequest> | null): JsonObject {
  const asked = request?.serviceTier
  const tier = asked === undefined || asked === 'auto' || asked === 'standard_only' ? 'default' : asked
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    status: head.status,
    completed_at: head.completed,
    error: head.error,
    incomplete_details: head.incomplete === null ? null : { reason: head.incomplete },
    model: head.model,
    service_tier: openAiTier(head.serviceTier) ?? tier,
  }
}

/** Returns the members that stay the same; computed once per answer. */
export function echoMembers(codec: CodecContext): JsonObject {
  const { request } = codec
  const own = request?.ext.responses ?? {}
  const { sampling, state, reasoning, cache } = request ?? {}
  return {
    background: state?.background ?? false,
    ...(state?.conversation === undefined ? {} : { conversation: conversation(state.conversation as Json) }),
    instructions: instructionsOf(request),
    max_output_tokens: request?.maxTokens ?? null,
    max_tool_calls: (own.max_tool_calls ?? null) as Json,
    metadata: (request?.metadata ?? {}) as JsonObject,
    parallel_tool_calls: request?.parallelToolCalls ?? true,
    frequency_penalty: sampling?.frequencyPenalty ?? 0,
    presence_penalty: sampling?.presencePenalty ?? 0,
    previous_response_id: state?.previousResponseId ?? null,
    ...(state?.promptTemplate === undefined ? {} : { prompt: state.promptTemplate as Json }),
    prompt_cache_key: cache?.key ?? null,
    prompt_cache_retention: cache?.retention ?? null,
    reasoning: {
      effort: reasoning?.effort ?? null,
      summary: reasoning?.summary ?? null,
      ...(isObject(own.reasoning) ? own.reasoning : {}),
    },
    safety_identifier: request?.safetyId ?? null,
    // Only an upstream of this dialect stores answers. A plugin that stores them changes this member in the text.
    store: codec.upstream === 'responses' && (state?.store ?? false),
    temperature: sampling?.temperature ?? 1,
    text: textOf(request, isObject(own.text) ? own.text : {}),
    tool_choice: echoToolChoice(request),
    tools: echoTools(request),
    top_logprobs: request?.logprobs?.top ?? 0,
    top_p: sampling?.topP ?? 1,
    truncation: state?.truncation ?? 'disabled',
    user: request?.endUser ?? null,
  }
}

/** Returns how a canonical finish ends a response. `refused`: the output already contains the refusal. */
export function statusOf(
  finish: Finish | null,
  refused: boolean,
): { status: 'completed' | 'incomplete' | 'failed'; incomplete: string | null } {
  if (finish === 'length' || finish === 'context_window') return { status: 'incomplete', incomplete: 'max_output_tokens' }
  if (finish === 'content_filter' || (finish === 'refusal' && !refused))
    return { status: 'incomplete', incomplete: 'content_filter' }
  return { status: finish === 'error' ? 'failed' : 'completed', incomplete: null }
}

/** Returns an id of this dialect: the upstream's own when it has the right prefix. */
export function ownId(id: string | undefined, prefix: string, codec: CodecContext): string {
  return id?.startsWith(prefix) ? id : codec.id(prefix)
}

/** Returns the id of the item that carries the signature of a call. It follows the id of the call, so that a reference finds both. */
export function signatureId(callId: string | undefined, codec: CodecContext): string {
  return callId?.startsWith('fc_') ? `rs_${callId.slice(3)}` : codec.id('rs_')
}

function instructionsOf(request: Frozen<CanonicalRequest> | null): string | null {
  for (const block of request?.system ?? []) {
    for (const part of block.parts) if (part.t === 'text' && part.ext?.responses?.instructions === true) return part.text
  }
  return null
}

function textOf(request: Frozen<CanonicalRequest> | null, rest: Frozen<JsonObject>): JsonObject {
  const format = request?.output === undefined ? { type: 'text' } : encodeFormat(request.output, 'responses')
  const named = format !== undefined && 'schema' in format ? { strict: false, ...format } : format
  return { format: (named ?? { type: 'text' }) as JsonObject, verbosity: request?.verbosity ?? 'medium', ...rest } as JsonObject
}

function conversation(value: Json): Json {
  return typeof value === 'string' ? { id: value } : value
}

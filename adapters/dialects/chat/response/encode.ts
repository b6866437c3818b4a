// Encodes a whole chat answer with every member that the published schema requires.
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { openAiTier } from '../../shared/service-tier.ts'
import { isUnreported } from '../../shared/unreported-usage.ts'
import { encodeFinish } from '../finish.ts'
import { ThoughtSecrets } from '../thought-secrets.ts'
import { encodeUsage } from '../usage.ts'
import {
  answerId,
  encodeAnnotation,
  encodeCall,
  encodeImage,
  encodeLogprobs,
  THOUGHT_SEPARATOR,
  thoughtText,
} from './encode-answer.ts'

type AnyPart = Frozen<Part>

export function encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string {
  return JSON.stringify(buildResponse(response, codec))
}

/** Returns the value that is written. */
export function buildResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): object {
  const tier = openAiTier(response.serviceTier)
  return {
    id: answerId(response.id, codec.id),
    object: 'chat.completion',
    created: response.created || Math.floor(codec.now() / 1000),
    model: response.model || codec.model,
    choices: response.choices.map((choice) => encodeChoice(choice, codec)),
    ...(isUnreported(response.usage) ? {} : { usage: encodeUsage(response.usage) }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(response.ext.chat as JsonObject | undefined),
  }
}

function encodeChoice(choice: Frozen<Choice>, codec: CodecContext): JsonObject {
  const { message, ...own } = (choice.ext?.chat ?? {}) as { message?: JsonObject } & JsonObject
  const { parts } = choice
  // An incomplete call is not sent as a call.
  const calls = choice.finish === 'malformed_tool_call' ? [] : parts.filter((part) => part.t === 'tool_call')
  const refusal = parts.map((part) => (part.t === 'refusal' ? part.text : '')).join('')
  if (choice.finish === 'pause') codec.warn('pause_turn')
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: encodeContent(choice, calls.length > 0 || refusal !== ''),
      refusal: refusal === '' ? null : refusal,
      ...encodeReasoning(parts),
      ...annotations(parts),
      ...media(parts, codec),
      ...(calls.length > 0 ? { tool_calls: encodeCalls(parts, codec) } : {}),
      ...message,
    },
    logprobs: encodeLogprobs(choice.logprobs),
    finish_reason: encodeFinish(choice.finish, choice.nativeFinish, { toolCall: calls.length > 0, refusal: refusal !== '' }),
    ...own,
  }
}

/** Returns null when the answer has other parts or was filtered; an empty text is the model's own empty answer. */
function encodeContent(choice: Frozen<Choice>, hasOther: boolean): string | null {
  const texts = choice.parts.filter((part) => part.t === 'text')
  if (texts.length > 0) return texts.map((part) => part.text).join('')
  return hasOther || choice.finish === 'content_filter' || choice.finish === 'refusal' ? null : ''
}

/** Only one field: clients that read both would show the thoughts twice. */
function encodeReasoning(parts: readonly AnyPart[]): JsonObject {
  const thoughts = parts.filter((part) => part.t === 'reasoning')
  const text = thoughts
    .map(thoughtText)
    .filter((thought) => thought !== '')
    .join(THOUGHT_SEPARATOR)
  const details = thoughts.flatMap((part) => (part.ext?.chat?.reasoning_details as Json[] | undefined) ?? [])
  return { ...(text === '' ? {} : { reasoning_content: text }), ...(details.length > 0 ? { reasoning_details: details } : {}) }
}

/** The first call after a thought carries its secret. */
function encodeCalls(parts: readonly AnyPart[], codec: CodecContext): JsonObject[] {
  const secrets = new ThoughtSecrets()
  const out: JsonObject[] = []
  let length = 0
  for (const part of parts) {
    if (part.t === 'tool_call') out.push(encodeCall(part, part.signature ?? secrets.take(), codec))
    if (part.t !== 'reasoning') continue
    const text = thoughtText(part)
    const from = text !== '' && length > 0 ? length + THOUGHT_SEPARATOR.length : length
    length = from + text.length
    secrets.add(part, from, length)
  }
  return out
}

function annotations(parts: readonly AnyPart[]): JsonObject {
  const list: JsonObject[] = []
  let offset = 0
  for (const part of parts) {
    if (part.t !== 'text') continue
    for (const annotation of part.annotations ?? []) {
      const wire = encodeAnnotation(annotation, offset, part.text.length)
      if (wire !== null) list.push(wire)
    }
    offset += part.text.length
  }
  return list.length > 0 ? { annotations: list } : {}
}

function media(parts: readonly AnyPart[], codec: CodecContext): JsonObject {
  const out: JsonObject = {}
  const images: JsonObject[] = []
  for (const part of parts) {
    const image = part.t === 'image' ? encodeImage(part, images.length) : null
    if (image !== null) images.push(image)
  }
  if (images.length > 0) {
    out.images = images
    codec.warn('image_output')
  }
  const audio = parts.find((part) => part.t === 'audio')
  if (audio?.t === 'audio' && audio.src.kind === 'base64') {
    const expires = audio.ext?.chat?.expires_at
    out.audio = {
      id: audio.id ?? codec.id('audio_'),
      data: audio.src.data,
      transcript: audio.transcript ?? '',
      expires_at: typeof expires === 'number' ? expires : Math.floor(codec.now() / 1000) + 3600,
    }
  }
  return out
}

// Decodes a whole chat answer.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { Annotation, ImagePart, Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import { inBandError } from '../errors.ts'
import { decodeFinish } from '../finish.ts'
import { ownOfChoice } from '../own-members.ts'
import { isObject, text, unknownMembers } from '../read.ts'
import { callSignature, decodeReasoning } from '../request/decode-assistant.ts'
import { imageSource } from '../request/decode-parts.ts'
import { callerTool, flattenedInput } from '../tool-names.ts'
import { decodeUsage, findUsage, missingUsage } from '../usage.ts'

/** @throws GatewayError for an error in a 200 answer, or an answer without choices. */
export function decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse {
  const wire = body.json() as JsonObject
  const error = inBandError(wire, 'status')
  if (error !== null) throw error
  if (!Array.isArray(wire.choices) || wire.choices.length === 0) throw noChoices()
  const tier = text(wire.service_tier)
  const ext = unknownMembers(wire, KNOWN)
  return {
    id: text(wire.id) ?? '',
    created: typeof wire.created === 'number' ? Math.floor(wire.created) : Math.floor(codec.now() / 1000),
    model: text(wire.model) ?? codec.model,
    choices: wire.choices.map((choice, position) => decodeChoice(choice, position, codec)),
    usage: decodeUsage(findUsage(wire), codec.quirks) ?? missingUsage(),
    ...(tier === undefined ? {} : { serviceTier: tier }),
    ext: ext === undefined ? {} : { chat: ext },
  }
}

export function noChoices(): GatewayError {
  return GatewayError.protocol('The upstream answered without any choice.')
}

/** Returns the error for a finish_reason of "error": the answer failed, even when it has content. */
export function failedAnswer(native: string): GatewayError {
  return GatewayError.upstream(502, `The upstream gave up on its answer (${native}).`)
}

const KNOWN: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier'])

function decodeChoice(choice: Json, position: number, codec: CodecContext): Choice {
  if (!isObject(choice) || !isObject(choice.message)) throw noChoices()
  const { message } = choice
  const parts = decodeMessage(message, codec)
  const native = text(choice.finish_reason)
  const finish = decodeFinish(native, {
    toolCall: parts.some((part) => part.t === 'tool_call'),
    refusalOnly: parts.some((part) => part.t === 'refusal') && !parts.some((part) => part.t === 'text'),
  })
  if (finish === 'error') throw failedAnswer(native ?? '')
  const own = ownOfChoice(choice)
  return {
    index: typeof choice.index === 'number' ? choice.index : position,
    parts,
    finish,
    nativeFinish: native ?? '',
    ...(choice.logprobs === undefined || choice.logprobs === null ? {} : { logprobs: choice.logprobs }),
    ...(own === undefined ? {} : { ext: { chat: own } }),
  }
}

// The parts that a whole answer and a stream chunk share: content as a string or as mistral's array, annotations, images.
interface Spoken {
  reasoning: string
  text: string
}

/** `content` of a message or delta: a string, or an array of thinking and text parts (mistral). */
export function spokenContent(content: Json | undefined): Spoken {
  if (typeof content === 'string') return { reasoning: '', text: content }
  const spoken = { reasoning: '', text: '' }
  if (!Array.isArray(content)) return spoken
  for (const part of content) {
    if (!isObject(part)) continue
    if (part.type === 'text') spoken.text += text(part.text) ?? ''
    else if (part.type === 'thinking') {
      if (typeof part.thinking === 'string') spoken.reasoning += part.thinking
      else if (Array.isArray(part.thinking))
        for (const inner of part.thinking) if (isObject(inner)) spoken.reasoning += text(inner.text) ?? ''
    }
  }
  return spoken
}

export function decodeAnnotations(list: Json | undefined): Annotation[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((raw): Annotation[] => {
    if (!isObject(raw)) return []
    const cited = isObject(raw.url_citation) ? raw.url_citation : isObject(raw.file_citation) ? raw.file_citation : raw
    const kind = isObject(raw.file_citation) ? 'file' : 'url'
    const url = text(cited.url)
    const title = text(cited.title)
    return [
      {
        kind,
        ...(url === undefined ? {} : { url }),
        ...(title === undefined ? {} : { title }),
        ...(typeof cited.start_index === 'number' ? { start: cited.start_index } : {}),
        ...(typeof cited.end_index === 'number' ? { end: cited.end_index } : {}),
        raw,
        dialect: 'chat',
      },
    ]
  })
}

/** Decodes generated images (OpenRouter's convention). */
export function decodeImages(list: Json | undefined): (ImagePart & Part)[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((image): (ImagePart & Part)[] => {
    const url = isObject(image) && isObject(image.image_url) ? text(image.image_url.url) : undefined
    return url === undefined ? [] : [{ t: 'image', src: imageSource(url) }]
  })
}

export function decodeAudio(audio: JsonObject): Part {
  const id = text(audio.id)
  const transcript = text(audio.transcript)
  return {
    t: 'audio',
    src: { kind: 'base64', data: text(audio.data) ?? '', mime: '' },
    format: '',
    ...(id === undefined ? {} : { id }),
    ...(transcript === undefined ? {} : { transcript }),
    ...(typeof audio.expires_at === 'number' ? { ext: { chat: { expires_at: audio.expires_at } } } : {}),
  }
}

/** Returns parts in canonical order: reasoning, text, refusal, media, calls. */
function decodeMessage(message: JsonObject, codec: CodecContext): Part[] {
  const spoken = spokenContent(message.content)
  const parts = decodeReasoning(message)
  if (parts.length === 0 && spoken.reasoning !== '') parts.push({ t: 'reasoning', text: spoken.reasoning })
  if (spoken.text !== '') {
    const annotations = decodeAnnotations(message.annotations)
    parts.push({ t: 'text', text: spoken.text, ...(annotations.length > 0 ? { annotations } : {}) })
  }
  const refusal = text(message.refusal)
  if (refusal !== undefined) parts.push({ t: 'refusal', text: refusal })
  if (isObject(message.audio)) parts.push(decodeAudio(message.audio))
  parts.push(...decodeImages(message.images))
  for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
    const part = isObject(call) ? decodeCall(call, codec) : null
    if (part !== null) parts.push(part)
  }
  if (isObject(message.function_call)) {
    const part = decodeCall({ function: message.function_call }, codec)
    if (part !== null) parts.push(part)
  }
  return parts
}

function decodeCall(call: JsonObject, codec: CodecContext): Part | null {
  const custom = isObject(call.custom)
  const named = custom ? (call.custom as JsonObject) : isObject(call.function) ? call.function : {}
  const wireName = text(named.name)
  if (wireName === undefined) return null
  const { flattened, ...tool } = callerTool(wireName, codec)
  const given = custom ? named.input : named.arguments
  const args = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : ''
  const id = text(call.id)
  const signature = callSignature(call, codec.caps.family)
  return {
    t: 'tool_call',
    id: id ?? codec.id('call_'),
    idMinted: id === undefined,
    ...tool,
    args: flattened ? flattenedInput(args) : args,
    kind: custom || flattened ? 'custom' : 'function',
    ...(signature === undefined ? {} : { signature }),
  }
}

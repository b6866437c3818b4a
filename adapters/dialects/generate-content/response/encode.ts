// Encodes a canonical answer as a GenerateContentResponse.
import { stringify } from '../../../../core/json/raw-json.ts'
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { Annotation, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isUnreported } from '../../shared/unreported-usage.ts'
import { isObject } from '../fields.ts'
import { finishReason } from '../finish.ts'
import { ThoughtCarrier } from '../thought-carrier.ts'
import { usageMetadata } from '../usage.ts'
import { groundingOf } from './grounding.ts'
import { logprobsResult } from './logprobs.ts'
import { functionCallPart, type WirePart, wirePart } from './wire-parts.ts'

export function encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string {
  return stringify(buildResponse(response, codec))
}

/** Returns the value that is written. */
export function buildResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): object {
  if (codec.operation === 'count_tokens') return { totalTokens: response.usage.inputTotal }
  const own = (response.ext.generate_content ?? {}) as JsonObject
  const blocked = isObject(own.promptFeedback) && response.choices.every((choice) => choice.parts.length === 0)
  return {
    ...(blocked ? {} : { candidates: response.choices.map((choice) => candidate(choice, codec)) }),
    ...(own.promptFeedback === undefined ? {} : { promptFeedback: own.promptFeedback }),
    ...(isUnreported(response.usage) ? {} : { usageMetadata: usageMetadata(response.usage) }),
    modelVersion: response.model,
    responseId: responseId(response.id, codec),
  }
}

/** Google's ids have no prefix; another vendor's id is not sent. */
export function responseId(id: string, codec: CodecContext): string {
  return codec.upstream === 'generate_content' && id !== '' ? id : codec.id('')
}

function candidate(choice: Frozen<Choice>, codec: CodecContext): WirePart {
  const { parts, malformed } = answerParts(choice)
  const finish = malformed && choice.finish !== 'length' ? 'malformed_tool_call' : choice.finish
  const own = choice.ext?.generate_content
  const grounding = own?.groundingMetadata !== undefined ? undefined : grounded(choice)
  const logprobs = logprobsResult(choice.logprobs)
  return {
    // Clients that keep the history treat an answer without parts as invalid.
    content: { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' },
    finishReason: finishReason(finish === 'tool_calls' ? 'stop' : finish, choice.nativeFinish, codec),
    index: choice.index,
    // Another vendor's safety value is not a list of ratings.
    ...(Array.isArray(choice.safety) ? { safetyRatings: choice.safety } : {}),
    ...(grounding === undefined ? {} : { groundingMetadata: grounding }),
    ...(logprobs === undefined ? {} : { logprobsResult: logprobs }),
    ...own,
  }
}

function answerParts(choice: Frozen<Choice>): { parts: WirePart[]; malformed: boolean } {
  const parts: WirePart[] = []
  const thoughts = new ThoughtCarrier()
  let malformed = false
  for (const [index, part] of choice.parts.entries()) {
    if (part.t !== 'tool_call') {
      if (part.t === 'reasoning') thoughts.add(part)
      const wire = wirePart(part)
      if (wire !== null) parts.push(wire)
      continue
    }
    // The answer was cut before the arguments began: it is not a call, although an empty text would pass as {}.
    const cut = choice.finish === 'length' && part.args.trim() === '' && index === choice.parts.length - 1
    const wire = cut ? null : functionCallPart(part, thoughts)
    if (wire !== null) parts.push(wire)
    else malformed = true
  }
  return { parts, malformed }
}

function grounded(choice: Frozen<Choice>): JsonObject | undefined {
  const annotations: Frozen<Annotation>[] = []
  let text = ''
  for (const part of choice.parts) {
    if (part.t !== 'text') continue
    const offset = text.length
    for (const annotation of part.annotations ?? []) annotations.push(shifted(annotation, offset))
    text += part.text
  }
  return annotations.length === 0 ? undefined : groundingOf(annotations, text)
}

function shifted(annotation: Frozen<Annotation>, offset: number): Frozen<Annotation> {
  if (offset === 0 || annotation.start === undefined || annotation.end === undefined) return annotation
  return { ...annotation, start: annotation.start + offset, end: annotation.end + offset }
}

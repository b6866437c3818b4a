// Converts logprobsResult to the canonical logprobs, which have chat's shape: { content: [{ token, logprob, bytes, top_logprobs }] }.
import type { Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject, listField } from '../fields.ts'

export function logprobsOf(result: Json | undefined): Json | undefined {
  if (!isObject(result)) return undefined
  const top = listField(result.topCandidates)
  const content = listField(result.chosenCandidates)
    .filter(isObject)
    .map((chosen, index) => {
      const others = top[index]
      return { ...entry(chosen), top_logprobs: isObject(others) ? listField(others.candidates).filter(isObject).map(entry) : [] }
    })
  return content.length === 0 ? undefined : { content, refusal: null }
}

/** Returns undefined when the value is not in chat's shape. */
export function logprobsResult(logprobs: Frozen<Json> | undefined): JsonObject | undefined {
  if (!isObject(logprobs)) return undefined
  const tokens = listField(logprobs.content ?? undefined).filter(isObject)
  if (tokens.length === 0) return undefined
  return {
    chosenCandidates: tokens.map(candidate),
    topCandidates: tokens.map((token) => ({
      candidates: listField(token.top_logprobs ?? undefined)
        .filter(isObject)
        .map(candidate),
    })),
  }
}

function entry(candidate: JsonObject): JsonObject {
  return {
    token: typeof candidate.token === 'string' ? candidate.token : '',
    logprob: typeof candidate.logProbability === 'number' ? candidate.logProbability : 0,
    bytes: null,
  }
}

function candidate(token: JsonObject): JsonObject {
  return { token: token.token ?? '', logProbability: token.logprob ?? 0 }
}

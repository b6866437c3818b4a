// Keeps members of a candidate that other dialects do not support, for Gemini callers.
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../fields.ts'

const EXTRAS = [
  'groundingMetadata',
  'citationMetadata',
  'urlContextMetadata',
  'avgLogprobs',
  'finishMessage',
  'tokenCount',
] as const

/** Adds the members of one more stream item: later values replace earlier ones; citations are appended. */
export function addOwn(sofar: JsonObject | undefined, candidate: JsonObject): JsonObject | undefined {
  let own = sofar
  for (const key of EXTRAS) {
    const value = candidate[key]
    if (value === undefined) continue
    own ??= {}
    own[key] = key === 'citationMetadata' ? joined(own[key], value) : value
  }
  return own
}

/** `citations`; Vertex calls it `citationSources`. */
function joined(before: Json | undefined, next: Json): Json {
  if (!isObject(before) || !isObject(next)) return next
  const all: JsonObject = { ...before, ...next }
  for (const key in next) {
    const [old, more] = [before[key], next[key]]
    if (!Array.isArray(old) || !Array.isArray(more)) continue
    const known = new Set(old.map((entry) => JSON.stringify(entry)))
    all[key] = [...old, ...more.filter((entry) => !known.has(JSON.stringify(entry)))]
  }
  return all
}

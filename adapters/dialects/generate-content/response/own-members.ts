// Members of a candidate that other dialects have no place for: Gemini callers get them back.
import type { Json, JsonObject } from '../../../../core/types/canonical.ts'
import { isObject } from '../fields.ts'

const EXTRAS = [
  'groundingMetadata',
  'citationMetadata',
  'urlContextMetadata',
  'avgLogprobs',
  'finishMessage',
  'tokenCount',
] as const

/** Those of one more item of a stream on top: the last word counts, only citations come one after the other. */
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

/** `citations` or, as Vertex says, `citationSources`. */
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

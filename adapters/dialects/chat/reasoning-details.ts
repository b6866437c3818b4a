// Joins OpenRouter's `reasoning_details` of a stream as its whole answers have them, because agents send them back.
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, text } from './read.ts'

const PIECED = ['text', 'summary'] as const

/** Adds the pieces of one delta. The pieces of one entry are consecutive. */
export function addDetails(details: Json[], pieces: readonly Json[]): void {
  for (const piece of pieces) {
    const last = details.at(-1)
    if (isObject(piece) && isObject(last) && goesOn(last, piece)) details[details.length - 1] = joined(last, piece)
    else details.push(piece)
  }
}

/** Returns whether `piece` continues `last`. A signed thought is complete; encrypted ones are never split. */
function goesOn(last: JsonObject, piece: JsonObject): boolean {
  if (piece.type !== last.type || piece.type === 'reasoning.encrypted' || text(last.signature) !== undefined) return false
  return piece.index === last.index && (text(piece.id) === undefined || text(last.id) === undefined || piece.id === last.id)
}

function joined(last: JsonObject, piece: JsonObject): JsonObject {
  const whole = { ...last }
  for (const name in piece) {
    const value = piece[name]
    if (value !== null && value !== undefined) whole[name] = value
  }
  for (const name of PIECED)
    if (typeof last[name] === 'string' && typeof piece[name] === 'string') whole[name] = last[name] + piece[name]
  return whole
}

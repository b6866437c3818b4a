// Replaces identifiers of users and caches that are too long for a target by a stable hash, in both lanes.
import { createHash } from 'node:crypto'
import type { CodecContext, WireBody } from '../../../core/types/request/dialect.ts'

/** Returns SHA-256 in hex, shortened to the limit. */
export function hashedId(value: string, limit = 64): string {
  return createHash('sha256').update(value).digest('hex').slice(0, limit)
}

/** Returns a text that fits; the value itself when the target's limit is unknown. */
export function fittedId(field: string, value: string, codec: CodecContext): string {
  const limit = codec.quirks.idLimits?.[field]
  if (limit === undefined || !isLonger(value, limit)) return value
  codec.warn(`hashed_${field.replaceAll('.', '_')}`)
  return hashedId(value, limit)
}

/** Shortens ids in a wire body, or in an object that is encoded as one. */
export function fitIds(body: Pick<WireBody, 'get' | 'set'>, codec: CodecContext): void {
  for (const field in codec.quirks.idLimits) {
    const value = body.get(field)
    if (typeof value !== 'string') continue
    const fitted = fittedId(field, value, codec)
    if (fitted !== value) body.set(field, fitted)
  }
}

/** Vendors count characters, not UTF-16 units. */
function isLonger(value: string, limit: number): boolean {
  return value.length > limit && (value.length > 2 * limit || [...value].length > limit)
}

const IDS = ['metadata.user_id', 'safety_identifier', 'prompt_cache_key', 'user_id', 'user']

/** Returns the identifier that a refusal calls too long; null for other refusals, and for fields that the model reads. */
export function longId(message: string, param: string | null, code: string | null): string | null {
  if (code !== 'string_above_max_length' && !/string too long|at most \d+ characters|maximum length/i.test(message)) return null
  if (param !== null) return IDS.includes(param) ? param : null
  const named = /^(?:Invalid )?['"`]?([\w.]+)['"`]?:/i.exec(message)?.[1]
  return named !== undefined && IDS.includes(named) ? named : null
}

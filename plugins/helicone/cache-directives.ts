// Parses Helicone's cache headers into cache directives.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import { isTrue } from './headers.ts'

type CacheDirectives = Parameters<Services['exactCache']['request']>[1]

const DAY_S = 86_400
const DEFAULT_TTL_S = 7 * DAY_S
const MAX_TTL_S = 365 * DAY_S
const MAX_BUCKET = 20
const MAX_SEED = 512
const MAX_KEYS = 32

/** Returns null when there are none. @throws GatewayError 400 for a bucket that is too large. */
export function cacheWishes(headers: HeaderBag): CacheDirectives | null {
  const bucketSize = bucketSizeIn(headers)
  const control = headers.get('helicone-cache-control') ?? ''
  if (says(headers, 'false') || /\bno-(?:store|cache)\b/i.test(control)) return { bypass: true }
  const seed = headers.get('helicone-cache-seed')
  const ignoreKeys = ignoredKeys(headers.get('helicone-cache-ignore-keys'))
  const age = maxAge(control)
  if (age === 0) return { bypass: true }
  const directives: CacheDirectives = {
    ...(seed !== null && seed !== '' && { seed: seed.slice(0, MAX_SEED) }),
    ...(bucketSize !== null && { bucketSize }),
    ...(ignoreKeys !== null && { ignoreKeys }),
    ...(age !== null && { maxAgeMs: age * 1000 }),
  }
  if (!isTrue(headers, 'helicone-cache-enabled')) return Object.keys(directives).length === 0 ? null : directives
  const seconds = age ?? maxAge(headers.get('cache-control') ?? '') ?? DEFAULT_TTL_S
  return seconds === 0 ? { bypass: true } : { ...directives, ttlMs: Math.min(seconds, MAX_TTL_S) * 1000 }
}

function says(headers: HeaderBag, word: string): boolean {
  return headers.get('helicone-cache-enabled')?.trim().toLowerCase() === word
}

function maxAge(control: string): number | null {
  const found = /(?:^|[\s,])max-age=(\d{1,12})(?:$|[\s,])/i.exec(control)
  return found === null ? null : Number(found[1])
}

function bucketSizeIn(headers: HeaderBag): number | null {
  const text = headers.get('helicone-cache-bucket-max-size')?.trim()
  if (text === undefined || !/^\d{1,9}$/.test(text)) return null
  const size = Number(text)
  if (size > MAX_BUCKET)
    throw GatewayError.invalid(
      'Helicone-Cache-Bucket-Max-Size',
      `\`Helicone-Cache-Bucket-Max-Size\` is at most ${MAX_BUCKET}: send 1 to ${MAX_BUCKET}.`,
    )
  return size === 0 ? null : size
}

/** Reads a JSON array of names, or comma-separated names. */
function ignoredKeys(text: string | null): string[] | null {
  if (text === null) return null
  const names = text.trim().startsWith('[') ? jsonNames(text) : text.split(',')
  const kept = names.map((name) => name.trim()).filter((name) => name !== '')
  return kept.length === 0 ? null : kept.slice(0, MAX_KEYS)
}

function jsonNames(text: string): string[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}

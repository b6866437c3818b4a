// The key of an answer: an HMAC over the scope, which is mandatory, and over the body in a canonical form (CONTRACTS 6.1,
// RELIABILITY T5, T9). Neither scope nor body can be read from it, and without the master key nobody can make one.
import { decodeUtf8 } from '../../core/lib/bytes.ts'
import { canonicalJson } from '../../core/lib/canonical-json.ts'
import type { Dialect } from '../../core/types/canonical.ts'

/** All of it, or there is no key. */
export interface Scope {
  readonly orgId: number | null
  /** null: anonymous. */
  readonly keyId: number | null
  readonly dialect: Dialect
  /** As the caller sent it. */
  readonly model: string
  /** Headers that change what a vendor answers. */
  readonly headers: readonly (string | null)[]
  /** What is configured and changes answers. */
  readonly policy: string
  readonly seed: string
  /** What a plugin made of the request; '' when nobody touched it. */
  readonly edited: string
}

/** They say how an answer is delivered or filed, not what it is. */
const LEFT_OUT = ['stream', 'stream_options', 'metadata']

/** @param body valid JSON of an object, as the pipeline has scanned it. */
export function keyOf(mac: (data: string) => string, scope: Scope, body: Uint8Array, ignoreKeys: readonly string[] = []): string {
  const text = decodeUtf8(body)
  const { orgId, keyId, dialect, model, headers, policy, seed, edited } = scope
  const parts = [orgId, keyId === null ? 'anon' : keyId, dialect, model, headers, policy, seed, edited]
  // Parsing rounds such numbers: two bodies would share a key though they differ.
  const exact = ROUNDED.test(text) && ROUNDED.test(text.replace(STRINGS, '""')) ? text : ''
  return mac(`${JSON.stringify(parts)}\n${canonicalJson(JSON.parse(text), new Set([...LEFT_OUT, ...ignoreKeys]))}\n${exact}`)
}

/** More digits than a double holds, or an exponent beyond its range. */
const ROUNDED = /[\d.]{16}|[eE][+-]?\d{3}/
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g

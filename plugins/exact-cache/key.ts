// The key of a cached answer: an HMAC over the scope, which is mandatory, and over the request in canonical form. The key reveals neither,
// and cannot be computed without the master key.
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
  /** Configuration that changes answers. */
  readonly policy: string
  readonly seed: string
  /** The request is what a plugin made of it. */
  readonly edited: boolean
}

/** @param form what the request is, as text. */
export function keyOf(mac: (data: string) => string, scope: Scope, form: string): string {
  const { orgId, keyId, dialect, model, headers, policy, seed, edited } = scope
  const parts = [orgId, keyId === null ? 'anon' : keyId, dialect, model, headers, policy, seed, edited]
  return mac(`${JSON.stringify(parts)}\n${form}`)
}

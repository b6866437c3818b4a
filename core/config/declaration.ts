// Writes a row's declaration as canonical text without secrets, and compares two of them.
import { maskUrl } from '../text/sanitize.ts'
import type { Json } from '../types/request/canonical.ts'
import { isSecretRef } from './secret.ts'

/**
 * One changed member of a declaration; null when a side does not have it. A secret is shown as its reference or as `{ secret: 'inline'
 * }`.
 */
export interface MemberChange {
  readonly member: string
  readonly from: Json
  readonly to: Json
}

/** Equal declarations give equal text. A literal secret becomes a marker; a reference stays a reference. */
export function declaredText(entry: unknown, fingerprint?: string): string {
  const plain = canonical(entry) as Record<string, unknown>
  return JSON.stringify(fingerprint === undefined ? plain : { ...plain, [FINGERPRINT]: fingerprint })
}

/** Returns the members that differ, by name. A changed value of a secret reference is the member `secrets`, without the values. */
export function changesBetween(before: string | null, after: string): MemberChange[] {
  const old = before === null ? {} : (JSON.parse(before) as Record<string, Json>)
  const now = JSON.parse(after) as Record<string, Json>
  const members = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort()
  return members
    .filter((member) => JSON.stringify(old[member]) !== JSON.stringify(now[member]))
    .filter((member) => before !== null || member !== FINGERPRINT)
    .map((member) =>
      member === FINGERPRINT
        ? { member, from: { secret: 'hidden' }, to: { secret: 'hidden' } }
        : { member, from: old[member] ?? null, to: now[member] ?? null },
    )
}

const FINGERPRINT = 'secrets'

/** Members whose plain text is a secret even as a literal in the file. Header values are secrets too. */
const SECRET_MEMBERS = /^(?:apiKey|secret|clientSecret|signingSecret|password|token|proxyUrl)$/

export function isSecretMember(member: string): boolean {
  return SECRET_MEMBERS.test(member)
}

function canonicalHeader(value: unknown): unknown {
  return isSecretRef(value) ? { ...value } : { secret: 'inline' }
}

function canonical(value: unknown, member = ''): unknown {
  if (typeof value === 'string' && isSecretMember(member)) return { secret: 'inline' }
  if (typeof value === 'string') return maskUrl(value)
  if (typeof value !== 'object' || value === null) return value
  if (member === 'headers')
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((name) => [name, canonicalHeader((value as Record<string, unknown>)[name])]),
    )
  if (Array.isArray(value)) return value.map((item) => canonical(item))
  if (isSecretRef(value)) return { ...value }
  const sorted = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, item]) => [key, canonical(item, key)]))
}

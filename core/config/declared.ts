// One entry of the file as it may be stored: canonical JSON, secrets by reference only.
import { maskUrl } from '../text/sanitize.ts'
import { isSecretRef } from './secret.ts'

/** Members whose plain text is a secret even where the file spells it out; so are the values of headers. */
const SECRET_MEMBERS = /^(?:apiKey|secret|clientSecret|signingSecret|password|token|proxyUrl)$/

/** Equal declarations give equal text; a secret spelled out in the file becomes a marker, a reference stays one. */
export function declaredText(entry: unknown, fingerprint?: string): string {
  const plain = canonical(entry) as Record<string, unknown>
  return JSON.stringify(fingerprint === undefined ? plain : { ...plain, [FINGERPRINT]: fingerprint })
}

const FINGERPRINT = 'secrets'

function canonical(value: unknown, member = ''): unknown {
  if (typeof value === 'string' && SECRET_MEMBERS.test(member)) return { secret: 'inline' }
  if (typeof value === 'string') return maskUrl(value)
  if (typeof value !== 'object' || value === null) return value
  if (member === 'headers')
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((name) => [name, { secret: 'inline' }]),
    )
  if (Array.isArray(value)) return value.map((item) => canonical(item))
  if (isSecretRef(value)) return { secret: value.secret, name: value.name }
  const sorted = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, item]) => [key, canonical(item, key)]))
}

/** Members that differ between two declarations, dotted one level deep; for plans. */
export function changedMembers(before: string | null, after: string): string[] {
  const old = before === null ? {} : (JSON.parse(before) as Record<string, unknown>)
  const now = JSON.parse(after) as Record<string, unknown>
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]))
    .sort()
}

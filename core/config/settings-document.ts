// Reads the settings document of callers and the file: nested members and dotted ones are equivalent.
import { GatewayError } from '../errors/gateway-error.ts'

/**
 * Returns the settings of a document by dotted key. A path inside a setting sets that part of its value. @throws GatewayError 400 for an
 * undeclared key, a group that is not an object, and a setting that appears twice.
 */
export function settingsIn(document: object, declared: ReadonlySet<string>): Map<string, unknown> {
  const groups = new Set([...declared].flatMap(groupsOf))
  const found = new Map<string, unknown>()
  const walk = (value: unknown, path: string): void => {
    const key = declared.has(path) ? path : ownerOf(path, declared)
    if (key !== undefined) {
      const part = within(value, path === key ? [] : path.slice(key.length + 1).split('.'))
      found.set(key, found.has(key) ? joined(found.get(key), part, key) : part)
      return
    }
    if (!groups.has(path)) throw GatewayError.invalid(shown(path), `There is no setting \`${shown(path)}\`.`)
    if (!isPlain(value)) throw GatewayError.invalid(path, `\`${path}\` is a group of settings: give an object.`)
    for (const [member, inner] of Object.entries(value)) walk(inner, `${path}.${member}`)
  }
  for (const [member, value] of Object.entries(document)) walk(value, member)
  return found
}

/** Merges a new value into an old one: objects member by member, null removes a member, any other value replaces. */
export function merged(before: unknown, change: unknown): unknown {
  if (!isPlain(change)) return change
  const members = new Map(Object.entries(isPlain(before) ? before : {}))
  for (const [name, value] of Object.entries(change)) {
    if (value === null) members.delete(name)
    else members.set(name, merged(members.get(name), value))
  }
  return Object.fromEntries(members)
}

/** `a.b.c` → `a`, `a.b`. */
export function groupsOf(key: string): string[] {
  const parts = key.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}

function ownerOf(path: string, declared: ReadonlySet<string>): string | undefined {
  return path.length > 500 ? undefined : groupsOf(path).find((group) => declared.has(group))
}

function within(value: unknown, path: readonly string[]): unknown {
  return path.reduceRight<unknown>((inner, name) => Object.fromEntries([[name, inner]]), value)
}

/** Joins two parts of one setting's value. */
function joined(a: unknown, b: unknown, path: string): unknown {
  if (!isPlain(a) || !isPlain(b)) throw GatewayError.invalid(shown(path), `\`${shown(path)}\` is given twice.`)
  const members = new Map(Object.entries(a))
  for (const [name, value] of Object.entries(b))
    members.set(name, members.has(name) ? joined(members.get(name), value, `${path}.${name}`) : value)
  return Object.fromEntries(members)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(path: string): string {
  return path.slice(0, 200)
}

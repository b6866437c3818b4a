// Writes equal values as equal text, for cache keys and comparisons. A member that is null counts as absent.

/** Returns JSON with sorted members and without null or undefined ones. The caller must have bounded the value's depth. */
export function comparableJson(value: unknown, leaveOut: ReadonlySet<string> = NOTHING): string {
  if (Array.isArray(value)) return `[${value.map((item) => comparableJson(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const object = value as Readonly<Record<string, unknown>>
  const members: string[] = []
  for (const name of Object.keys(object).sort()) {
    const member = object[name]
    if (member === null || member === undefined || leaveOut.has(name)) continue
    members.push(`${JSON.stringify(name)}:${comparableJson(member)}`)
  }
  return `{${members.join(',')}}`
}

const NOTHING: ReadonlySet<string> = new Set()

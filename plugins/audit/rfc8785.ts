// The RFC 8785 text of a JSON value: members sorted, no white space, null kept.

/** Canonical JSON (RFC 8785) of a value of bounded depth; undefined members are left out. */
export function rfc8785(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => rfc8785(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const object = value as Record<string, unknown>
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${rfc8785(object[name])}`)
  return `{${members.join(',')}}`
}

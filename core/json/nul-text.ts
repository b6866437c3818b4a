// Finds U+0000 in a body, a query or the file. PostgreSQL cannot store it, so the gateway refuses it everywhere.

/**
 * Returns the path of the first such text, or of the first member with such a name; null: there is none. `jsonBody` has limited the
 * depth, or the owner wrote the value.
 */
export function pathOfNul(value: unknown): string[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const path = name.includes('\0') ? [] : pathOfNul(inner)
    if (path !== null) return [name.replaceAll('\0', ''), ...path]
  }
  return null
}

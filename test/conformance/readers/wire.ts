// Reads JSON of a known form without checks: a missing member is undefined, and the later comparison fails.
export type Wire = Record<string, unknown>

export function list(value: unknown): Wire[] {
  return Array.isArray(value) ? (value as Wire[]) : []
}

export function member(value: unknown, ...path: string[]): unknown {
  let at = value
  for (const key of path) at = typeof at === 'object' && at !== null ? (at as Wire)[key] : undefined
  return at
}

/** Splits `data:<mime>;base64,<data>`; null for any other address. */
export function dataUrl(url: unknown): { mime: string; data: string } | null {
  const found = /^data:([^;,]+);base64,(.*)$/.exec(typeof url === 'string' ? url : '')
  return found === null ? null : { mime: found[1] as string, data: found[2] as string }
}

/** An optional member of an object literal. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: V }
}

// Suggests the path that a caller probably intended. The most common mistake with an SDK's base URL is `/v1` twice, no `/v1`, or a trailing
// slash.
const ROOT = '/v1'

export function suggestPath(path: string, known: ReadonlyMap<string, unknown>): string | null {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path
  const once = whole.startsWith(`${ROOT}${ROOT}/`) ? whole.slice(ROOT.length) : whole
  return [once, ROOT + once].find((candidate) => candidate !== path && known.has(candidate)) ?? null
}

// The path that a caller probably meant. A client's base URL with `/v1` twice, without it, or with a slash at the end is what
// goes wrong first when somebody points an SDK here.
const ROOT = '/v1'

export function meantPath(path: string, known: ReadonlyMap<string, unknown>): string | null {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path
  const once = whole.startsWith(`${ROOT}${ROOT}/`) ? whole.slice(ROOT.length) : whole
  return [once, ROOT + once].find((candidate) => candidate !== path && known.has(candidate)) ?? null
}

// Answers browsers of other origins (CORS) on the data plane: the origins that may read, and preflights. It is off until a layer names an
// origin. It never allows credentials: pages send the key in a header of their own.
import type { CrossOrigin } from '../services.ts'
import type { HeaderBag, Ingress } from '../types/ports/ports.ts'

/** In a preflight, header names above this number are not allowed. */
const MAX_ASKED = 64
const MAX_AGE_SECS = '600'
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i
const EXPOSED = /^(?:x-gateway-|x-ratelimit-|anthropic-ratelimit-|x-request-id$|request-id$|retry-after$|x-should-retry$)/

export interface CrossOrigins extends CrossOrigin {
  /** False: no origin is allowed, and the request's headers need no check. */
  readonly on: boolean
  /** Returns the CORS headers of the answer to this request, as a flat list. */
  headersFor(request: HeaderBag): readonly string[]
  /** Returns the headers of a preflight answer; null when the request is not a preflight or its origin is not allowed. */
  preflight(ingress: Ingress): readonly string[] | null
}

export function crossOrigins(): CrossOrigins {
  const layers: { origins: readonly string[] }[] = []
  let origins: ReadonlySet<string> = new Set()
  const changed = (): void => {
    origins = new Set(layers.at(-1)?.origins)
  }
  /** Returns null when this origin may not read. */
  const allowed = (request: HeaderBag): string | null => {
    if (origins.has('*')) return '*'
    const origin = request.get('origin')
    return origin !== null && origins.has(origin) ? origin : null
  }
  const headersFor = (request: HeaderBag): string[] => {
    const origin = allowed(request)
    return origin === null ? ['vary', 'Origin'] : ['vary', 'Origin', 'access-control-allow-origin', origin]
  }
  return {
    get on() {
      return origins.size > 0
    },
    headersFor,
    preflight({ method, headers }) {
      if (method !== 'OPTIONS' || !headers.has('access-control-request-method') || !headers.has('origin')) return null
      if (allowed(headers) === null) return null
      const out = ['access-control-allow-methods', 'GET, POST, DELETE', 'access-control-max-age', MAX_AGE_SECS]
      const asked = askedNames(headers.get('access-control-request-headers') ?? '')
      if (asked !== '') out.push('access-control-allow-headers', asked)
      return out
    },
    layer() {
      const layer: { origins: readonly string[] } = { origins: [] }
      layers.push(layer)
      return {
        set(list) {
          layer.origins = list
          changed()
        },
        end() {
          const at = layers.indexOf(layer)
          if (at !== -1) layers.splice(at, 1)
          changed()
        },
      }
    },
  }
}

/** Lists the headers of an answer that a page of an allowed origin may read. */
export function exposedNames(forPages: readonly string[], headers: readonly string[]): string[] {
  if (!forPages.includes('access-control-allow-origin')) return []
  const names: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (EXPOSED.test(name) && !names.includes(name)) names.push(name)
  }
  return names.length === 0 ? [] : ['access-control-expose-headers', names.join(', ')]
}

function askedNames(text: string): string {
  return text
    .split(',', MAX_ASKED)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => TOKEN.test(name))
    .join(', ')
}

// Sends the calls of the client: to a server by its address, or to a gateway in this process.
import type { Gateway } from '../../core/types/gateway.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { UntypedCall } from './call-types.ts'
import { HookgateError, refusalOf, unreachable } from './client-error.ts'

export interface ServerAddress {
  /** The address of the server, with the path under which it is mounted. */
  readonly baseURL: string
  /** A management token or a session token. */
  readonly token?: string | undefined
  /** Default: the runtime's own. */
  readonly fetch?: (request: Request) => Promise<Response>
}

export interface InProcess {
  /** A gateway in this process: calls need no socket. */
  readonly gateway: Pick<Gateway, 'control'>
  /** The caller, for rights and audit; default: the whole gateway's administrator, named `host`. */
  readonly operator?: Operator
  /** A token to check in place of `operator`. */
  readonly token?: string | undefined
}

export type ClientOptions = ServerAddress | InProcess

/** Sends one call. @throws HookgateError for every answer that is not a success */
export type Send = (method: string, path: string, call?: UntypedCall) => Promise<Response>

const HOST: Operator = { actor: 'host', orgId: null, role: 'system', readOnly: false, auth: 'host' }

export function sender(options: ClientOptions): Send {
  const { base, dispatch } = 'gateway' in options ? inProcess(options) : byAddress(options)
  return async (method, path, call = {}) => {
    const verb = method.toUpperCase()
    const what = `${verb} ${path}`
    const headers = new Headers(call.headers)
    if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`)
    if (call.body !== undefined) headers.set('content-type', 'application/json')
    const request = new Request(base + filled(path, call.path ?? {}) + queryText(call.query ?? {}), {
      method: verb,
      headers,
      // A redirect is a refusal: it would carry the token elsewhere, and turn a POST into a GET.
      redirect: 'manual',
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    })
    const response = await dispatch(request).catch((error: unknown) => {
      throw call.signal?.aborted || error instanceof HookgateError ? error : unreachable(error, what)
    })
    if (response.ok) return response
    throw await refusalOf(response, what)
  }
}

interface Way {
  readonly base: string
  readonly dispatch: (request: Request) => Promise<Response>
}

function byAddress({ baseURL, fetch = globalThis.fetch }: ServerAddress): Way {
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol))
    throw new TypeError(`\`baseURL\` must be an http or https address, not \`${baseURL.slice(0, 60)}\`.`)
  return { base: new URL(baseURL).href.replace(/[/]+$/, ''), dispatch: (request) => fetch(request) }
}

function inProcess({ gateway, operator = HOST, token }: InProcess): Way {
  const peer = { address: null, local: true, secure: true, ...(token === undefined ? { operator } : {}) }
  return { base: 'http://hookgate.local', dispatch: async (request) => gateway.control.fetch(request, peer) }
}

/** @throws TypeError for a parameter that is missing */
function filled(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined || value === null || value === '') throw new TypeError(`\`path.${name}\` of ${path} is missing.`)
    return encodeURIComponent(String(value))
  })
}

function queryText(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null) query.append(name, String(each))
  return query.size === 0 ? '' : `?${query}`
}

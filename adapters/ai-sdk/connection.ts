// Sends the calls of the provider: to a gateway in this process, or to a server by its address.

import type { Gateway } from '../../core/types/gateway.ts'
import type { Outcome } from '../../core/types/request/context.ts'
import type { HostContext } from '../../core/types/request/host.ts'

export interface GatewayInProcess {
  /** A gateway in this process: calls need no socket. */
  readonly gateway: Pick<Gateway, 'fetch'>
  /** A client key; without it the calls are those of a local caller. */
  readonly apiKey?: string | undefined
  /** The value of `ctx.host` for plugins. */
  readonly context?: HostContext
  /** Sent with every call: `x-gateway-session-id` and the like. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface GatewayByAddress {
  /** The gateway's address, with or without `/v1`. */
  readonly baseURL: string
  /** A client key. */
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch
}

export type HookgateOptions = GatewayInProcess | GatewayByAddress

/** One call of a model, and what is known about it afterwards. */
export interface TrackedCall {
  readonly send: typeof globalThis.fetch
  /** The headers of the last answer. */
  headers(): Headers
  /** Resolves when the call is settled; null: its outcome is not known, because the gateway is elsewhere. */
  outcome(): Promise<Outcome | null>
}

export interface Connection {
  /** The base of all paths: it ends with `/v1`. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  track(): TrackedCall
}

/** @throws TypeError when `baseURL` is no http address */
export function connectionOf(options: HookgateOptions): Connection {
  const { apiKey, headers } = options
  return {
    base: 'gateway' in options ? 'http://hookgate.local/v1' : baseOf(options.baseURL),
    headers: { ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), ...headers },
    track: 'gateway' in options ? () => inProcess(options) : () => byAddress(options.fetch ?? globalThis.fetch),
  }
}

function baseOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new TypeError(`\`baseURL\` must be an http or https address, not \`${text.slice(0, 60)}\`.`)
  const address = new URL(text).href.replace(/[/]+$/, '')
  return address.endsWith('/v1') ? address : `${address}/v1`
}

function inProcess({ gateway, context }: GatewayInProcess): TrackedCall {
  let answered = new Headers()
  let outcome: Promise<Outcome | null> = Promise.resolve(null)
  return {
    async send(input, init) {
      let settled: (outcome: Outcome | null) => void = () => {}
      outcome = new Promise((resolve) => {
        settled = resolve
      })
      const peer = { address: '127.0.0.1', local: true, secure: true }
      const response = await gateway.fetch(new Request(input, init), { ...peer, settled, ...(context && { context }) })
      answered = response.headers
      return response
    },
    headers: () => answered,
    outcome: () => outcome,
  }
}

function byAddress(fetch: typeof globalThis.fetch): TrackedCall {
  let answered = new Headers()
  return {
    async send(input, init) {
      const response = await fetch.call(globalThis, input, init)
      answered = response.headers
      return response
    },
    headers: () => answered,
    outcome: async () => null,
  }
}

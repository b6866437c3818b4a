// Calls to the identity provider: JSON, bounded in time and size, without redirects.
import type { DirectCalls } from '../../core/services.ts'
import { refusal } from './refusal.ts'

export interface IssuerCalls {
  /** Returns the status and the JSON of the answer; undefined when it is not JSON. @throws GatewayError 503 when there is no answer. */
  get(url: string, headers?: readonly string[]): Promise<{ status: number; json: unknown }>
  post(url: string, form: URLSearchParams, headers: readonly string[]): Promise<{ status: number; json: unknown }>
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 512 * 1024

export function issuerCalls(calls: Pick<DirectCalls, 'viaProxy'>, outboundProxy: string | null): IssuerCalls {
  const send = async (url: string, headers: readonly string[], body?: Uint8Array) => {
    const proxy = isLoopback(new URL(url).hostname) ? null : outboundProxy
    const options = { headers, maxBytes: MAX_BYTES, ...(body !== undefined && { body }) }
    const answer = await calls.viaProxy(proxy, url, TIMEOUT_MS, options).catch((error: unknown) => {
      throw refusal('issuer_unavailable', null, error)
    })
    if (answer.status >= 300 && answer.status < 400) throw refusal('issuer_unavailable', 'It answered with a redirect.')
    if (answer.status >= 500) throw refusal('issuer_unavailable', `It answered ${answer.status}.`)
    return { status: answer.status, json: parsed(answer.body) }
  }
  return {
    get: (url, headers = []) => send(url, headers),
    post: (url, form, headers) =>
      send(url, ['content-type', 'application/x-www-form-urlencoded', ...headers], new TextEncoder().encode(form.toString())),
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]'
}

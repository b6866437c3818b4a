// Converts a network failure to the gateway's error: its class, a message without hosts or credentials, and whether the one safe resend
// applies.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { ProxyError } from './proxies.ts'

interface WireError extends Error {
  code?: string
  /** Set by the pool's connector: a reused socket that had not begun to answer. */
  reused?: boolean
  cause?: unknown
}

export interface WireState {
  /** A response head had arrived. */
  headed: boolean
  proxied: boolean
}

const DNS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA', 'ESERVFAIL'])
const REFUSED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EMFILE'])
const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET'])

export function networkError(thrown: Error, state: WireState): GatewayError {
  if (GatewayError.is(thrown)) return thrown
  const error = innermost(thrown as WireError)
  const code = error.code ?? ''
  if (error instanceof ProxyError) {
    const what = isReached(error) ? 'reach the upstream' : 'be reached'
    return GatewayError.network('proxy', `The outbound proxy could not ${what}.`, { cause: thrown })
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return GatewayError.timeout('The upstream could not be connected to in time.')
  if (DNS.has(code)) return GatewayError.network('dns', 'The upstream host name could not be resolved.', { cause: thrown })
  // The proxy answered the CONNECT with another status than 200.
  if (state.proxied && code === 'UND_ERR_ABORTED')
    return GatewayError.network('proxy', 'The outbound proxy could not reach the upstream.', { cause: thrown })
  if (REFUSED.has(code)) return GatewayError.network('connect', 'The upstream refused the connection.', { cause: thrown })
  if (isTls(code)) return GatewayError.network('tls', 'TLS verification failed for the upstream.', { cause: thrown })
  if (RESET.has(code)) {
    return GatewayError.network('reset', 'The upstream closed the connection before its answer was complete.', {
      stale: !state.headed && error.reused === true,
      cause: thrown,
    })
  }
  if (
    error.name === 'HTTPParserError' ||
    code.startsWith('HPE_') ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  ) {
    return GatewayError.protocol('The upstream sent a broken HTTP answer.', thrown)
  }
  if (code === 'UND_ERR_INVALID_ARG')
    return GatewayError.network('connect', 'The connection’s base URL or headers cannot be used.', { cause: thrown })
  return GatewayError.network('connect', 'The upstream could not be reached.', { cause: thrown })
}

function innermost(error: WireError): WireError {
  let at = error
  // Happy-eyeballs failures are an AggregateError; its first member has the reason.
  for (let depth = 0; depth < 4; depth++) {
    const inner =
      (at as { errors?: WireError[] }).errors?.[0] ?? (at.code === undefined ? (at.cause as WireError | undefined) : undefined)
    if (!(inner instanceof Error)) break
    at = inner
  }
  return at
}

/** Returns true when the proxy was dialled and then answered or closed the connection. */
function isReached({ cause }: ProxyError): boolean {
  const { code = '' } = cause instanceof Error ? innermost(cause as WireError) : {}
  return !DNS.has(code) && !REFUSED.has(code) && !isTls(code) && code !== 'UND_ERR_CONNECT_TIMEOUT' && code !== 'ETIMEDOUT'
}

function isTls(code: string): boolean {
  return (
    code.startsWith('ERR_TLS') ||
    code.startsWith('ERR_SSL') ||
    code.startsWith('CERT_') ||
    code === 'EPROTO' ||
    /SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH/.test(code)
  )
}

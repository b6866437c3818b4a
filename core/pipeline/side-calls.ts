// GETs beside the pipeline, over the same transport and with the same credentials as requests: no hooks, nothing booked.
import { GatewayError } from '../errors/gateway-error.ts'
import { concatBytes } from '../lib/bytes.ts'
import { credentialsIn, sanitizeMessage } from '../lib/sanitize.ts'
import type { ConnectionService, SideAnswer, SideCalls } from '../services.ts'
import type { Dialect } from '../types/canonical.ts'
import type { HeaderBag, WireRequest } from '../types/ports.ts'
import type { Connection } from '../types/provider.ts'
import type { Kernel } from './kernel.ts'
import { proxyFor } from './proxy-route.ts'
import { joinUrl } from './upstream-url.ts'

const MAX_BYTES = 1024 * 1024

export function sideCalls(kernel: Kernel): SideCalls {
  return {
    async get(connection, path, timeoutMs) {
      const { generation } = kernel
      const provider = kernel.provider(connection.provider)
      const dialect = connection.wireFormat ?? (Object.keys(provider.dialects)[0] as Dialect | undefined) ?? 'chat'
      const base = connection.baseUrl ?? provider.baseUrl
      if (base === null) throw GatewayError.invalid('base_url', 'The connection has no address.')
      const url = joinUrl(base, path)
      const secret = (generation.service('connections') as ConnectionService).secretOf(connection)
      const wire = wireGet(kernel, url, proxyFor(kernel, generation, connection, url, null))
      for (const name in connection.headers) wire.headers.push(name, connection.headers[name] as string)
      try {
        await provider.authorize(wire, dialect, secret)
        return await fetched(kernel, wire, timeoutMs)
      } catch (error) {
        throw clean(GatewayError.from(error), secret, connection)
      }
    },
    through: (proxyUrl, url, timeoutMs) => fetched(kernel, wireGet(kernel, url, proxyUrl), timeoutMs),
  }
}

function wireGet({ options }: Kernel, url: string, proxyUrl: string | null): WireRequest {
  return {
    method: 'GET',
    url,
    headers: ['accept', 'application/json', 'accept-encoding', 'identity'],
    body: null,
    proxyUrl,
    connectTimeoutMs: options.connectTimeoutMs,
    stream: false,
  }
}

function fetched({ transport, clock }: Kernel, wire: WireRequest, timeoutMs: number): Promise<SideAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let head: { status: number; headers: HeaderBag } | null = null
    let size = 0
    const give = (reason: GatewayError) => {
      sent.abort(reason)
      timer.cancel()
      reject(reason)
    }
    const timer = clock.timer(timeoutMs, () => give(GatewayError.timeout(`No answer within ${timeoutMs / 1000} s.`)), true)
    const sent = transport.send(wire, {
      head(status, headers) {
        head = { status, headers }
      },
      data(chunk) {
        size += chunk.length
        if (size <= MAX_BYTES) chunks.push(chunk)
        else give(GatewayError.protocol('The answer is larger than the limit.'))
        return undefined
      },
      end() {
        timer.cancel()
        if (head === null) reject(GatewayError.protocol('The upstream sent an empty answer.'))
        else resolve({ ...head, body: concatBytes(chunks) })
      },
      error(error) {
        timer.cancel()
        reject(error)
      },
    })
  })
}

/** An upstream's words may repeat what it was sent. */
function clean(error: GatewayError, secret: string | null, { headers }: Connection): GatewayError {
  const message = sanitizeMessage(error.message, [...credentialsIn(headers), ...(secret === null ? [] : [secret])])
  if (message === error.message) return error
  const { status, type, code, upstream, cause } = error
  return new GatewayError(message, { status, type, code, upstream: upstream ?? undefined, cause })
}

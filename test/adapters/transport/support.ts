// Makes one upstream call over a transport and collects the result.
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { HeaderBag, Transport, WireRequest } from '../../../core/types/ports/ports.ts'

export interface Gathered {
  status: number | null
  headers: HeaderBag | null
  body: Buffer
  error: GatewayErrorShape | null
  /** The handler's calls, in order. */
  calls: string[]
  ms: number
}

export function wireRequest(url: string, more: Partial<WireRequest> = {}): WireRequest {
  return {
    method: 'POST',
    url,
    headers: ['content-type', 'application/json'],
    body: [Buffer.from('{}')],
    proxyUrl: null,
    connectTimeoutMs: 30_000,
    stream: false,
    ...more,
  }
}

export function call(transport: Transport, url: string, more: Partial<WireRequest> = {}): Promise<Gathered> {
  return new Promise((resolve) => {
    const started = performance.now()
    const chunks: Uint8Array[] = []
    const seen: Gathered = { status: null, headers: null, body: Buffer.alloc(0), error: null, calls: [], ms: 0 }
    const done = (how: string): void => {
      seen.calls.push(how)
      seen.body = Buffer.concat(chunks)
      seen.ms = performance.now() - started
      // undici reuses a socket one turn of the event loop after its answer.
      setImmediate(() => setImmediate(() => resolve(seen)))
    }
    transport.send(wireRequest(url, more), {
      head(status, headers) {
        seen.calls.push('head')
        seen.status = status
        seen.headers = headers
      },
      data(chunk) {
        if (seen.calls.at(-1) !== 'data') seen.calls.push('data')
        chunks.push(chunk)
        return undefined
      },
      end: () => done('end'),
      error(error) {
        seen.error = error
        done('error')
      },
    })
  })
}

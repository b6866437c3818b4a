// Implements gateway.fetch(request): the data plane over web objects, everything else through the control app.
import { envelope, GatewayError } from '../errors/gateway-error.ts'
import { requestId } from '../ids/ids.ts'
import type { FetchOptions } from '../types/gateway.ts'
import type { Ingress, Peer, Sink } from '../types/ports/ports.ts'
import type { Outcome } from '../types/request/context.ts'
import { answerHeaders } from './answer-headers.ts'
import type { ControlApp } from './app.ts'
import { owns } from './data-routes.ts'
import { mountPoint, withoutPrefix } from './mount.ts'
import { leftOut } from './served.ts'
import { judgedPeer, webIngress, webSink } from './web-exchange.ts'

export interface WebFetchSource {
  control(): ControlApp
  /** Resolves when the exchange is settled; null: no route took it. */
  run(ingress: Ingress, sink: Sink): Promise<Outcome | null>
}

export type WebFetch = (request: Request, options?: FetchOptions) => Promise<Response>

export function webFetch({ control, run }: WebFetchSource): WebFetch {
  return async (request, options = {}) => {
    const from: Peer = judgedPeer(options)
    const url = new URL(request.url)
    const prefix = typeof options?.prefix === 'string' ? mountPoint(options.prefix) : ''
    const path = withoutPrefix(url.pathname, prefix)
    if (owns(path)) {
      const { sink, response, release } = webSink(request.signal)
      void run(webIngress(request, path, url.search.slice(1), from, options?.context), sink).then((outcome) => {
        release()
        options?.settled?.(outcome)
      })
      return response
    }
    if (leftOut(path, options?.serve)) return notServed(request.method, path)
    const at = { mount: prefix, pages: options?.serve?.dashboard !== false }
    if (path === url.pathname) return control().fetch(request, from, at)
    return control().fetch(new Request(new URL(path + url.search, url), request), from, at)
  }
}

function notServed(method: string, path: string): Response {
  const error = GatewayError.unknownUrl(method, path)
  return Response.json(envelope(error), { status: error.status, headers: answerHeaders(requestId()) })
}

// The listener for the browser's way back (RFC 8252, section 7.3). It is bound to 127.0.0.1, open only while its sign-in is, and takes one
// answer with the right state.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { sameDigest } from '../../core/ids/same-digest.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import { isLoopback } from './clients.ts'
import { standardCode, VendorRefusal } from './vendor-error.ts'

export interface OpenListener {
  readonly redirectUri: string
  /** From now on an answer with this state is exchanged. */
  serve(state: string, exchange: (code: string) => Promise<unknown>): void
}

export interface Loopback {
  /**
   * Opens a listener on the port of this redirect URI, or on a free one. Resolves to null when the URI is not of this machine, or its port
   * is taken: then the address is pasted.
   */
  open(redirectUri: string | undefined, lifeMs: number): Promise<OpenListener | null>
  close(state: string): void
  closeAll(): void
  /** Number of open listeners. */
  readonly size: number
}

const PATH = '/callback'

export function loopbackOf(clock: Pick<Clock, 'timer'>, log: Pick<Logger, 'warn'>): Loopback {
  const open = new Map<Server, { state: string | null; end(): void }>()
  return {
    get size() {
      return open.size
    },
    async open(redirectUri, lifeMs) {
      const registered = redirectUri === undefined ? null : new URL(redirectUri)
      if (registered !== null && (registered.protocol !== 'http:' || !isLoopback(registered.hostname))) return null
      const { createServer } = await import('node:http')
      let exchange: ((code: string) => Promise<unknown>) | null = null
      const path = registered?.pathname ?? PATH
      const server = createServer((request, response) => {
        void answered(request, response).catch(() => page(response, 500, 'The sign-in failed. Begin again.'))
      })
      const entry = {
        state: null as string | null,
        end() {
          open.delete(server)
          timer.cancel()
          server.close()
          server.closeIdleConnections()
        },
      }
      const timer = clock.timer(lifeMs, () => entry.end(), true)

      async function answered(request: IncomingMessage, response: ServerResponse): Promise<void> {
        const url = new URL(request.url ?? '/', 'http://127.0.0.1')
        if (request.method !== 'GET' || url.pathname !== path) return page(response, 404, 'There is nothing here.')
        const state = url.searchParams.get('state') ?? ''
        if (entry.state === null || exchange === null || !sameDigest(state, entry.state))
          return page(response, 400, 'This sign-in is not open: it was used before, or another one began. Begin again.')
        const once = exchange
        exchange = null
        const error = url.searchParams.get('error')
        const code = url.searchParams.get('code')
        if (error !== null || code === null) {
          page(response, 400, new VendorRefusal(standardCode(error)).message)
          return entry.end()
        }
        try {
          await once(code)
          page(response, 200, 'You are signed in. You can close this page.')
        } catch (thrown) {
          page(response, 502, GatewayError.is(thrown) ? thrown.message : 'The sign-in failed. Begin again.')
        }
        entry.end()
      }

      const listening = await new Promise<boolean>((resolve) => {
        server.once('error', (error) => {
          log.warn('oauth.no_listener', { error: (error as NodeJS.ErrnoException).code ?? 'error' })
          resolve(false)
        })
        server.listen(registered === null ? 0 : Number(registered.port || 80), '127.0.0.1', () => resolve(true))
      })
      if (!listening) {
        timer.cancel()
        return null
      }
      open.set(server, entry)
      const { port } = server.address() as { port: number }
      return {
        redirectUri: redirectUri ?? `http://127.0.0.1:${port}${PATH}`,
        serve(state, given) {
          entry.state = state
          exchange = given
        },
      }
    },
    close(state) {
      for (const entry of [...open.values()]) if (entry.state === state) entry.end()
    },
    closeAll() {
      for (const entry of [...open.values()]) entry.end()
    },
  }
}

function page(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`<!doctype html><title>hookgate</title><p>${text.replace(/[<&]/g, '')}</p>`)
}

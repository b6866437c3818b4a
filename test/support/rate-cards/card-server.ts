// A server of rate cards that says what it is told to, and remembers what it was asked.
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Entry = Record<string, unknown>

const fixture = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')
export const PRIMARY_CARD = JSON.parse(fixture('primary.json')) as Record<string, Entry>
export const FALLBACK_CARD = JSON.parse(fixture('fallback.json')) as Record<string, Entry>

export type Say =
  | {
      status?: number
      body?: string | object
      etag?: string
      headers?: Record<string, string>
      delayMs?: number
      hold?: () => unknown
    }
  | 'hang'
  | 'endless'

export interface CardServer {
  readonly urls: { PRICING_SYNC_URL: string; PRICING_FALLBACK_URL: string }
  readonly asked: { path: string; headers: Record<string, string | string[] | undefined> }[]
  /** From now on. */
  primary: Say
  fallback: Say
  /** Bytes of the endless answer that were taken. */
  readonly poured: number
  close(): Promise<void>
}

export async function cardServer(): Promise<CardServer> {
  const asked: CardServer['asked'] = []
  let poured = 0
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    asked.push({ path, headers: request.headers })
    const say = path.startsWith('/fallback') ? self.fallback : self.primary
    if (say === 'hang') return
    if (say === 'endless') return pour(response)
    const { status = 200, body = '', etag, headers = {}, delayMs = 0, hold } = say
    await hold?.()
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (etag !== undefined && request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end()
    response.writeHead(status, { 'content-type': 'application/json', ...headers, ...(etag ? { etag } : {}) })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const pour = (response: ServerResponse): void => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    const more = (): void => {
      if (response.destroyed) return
      poured += chunk.length
      response.write(chunk, more)
    }
    more()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const self: CardServer = {
    urls: { PRICING_SYNC_URL: `${origin}/primary/{ref}/card.json`, PRICING_FALLBACK_URL: `${origin}/fallback.json` },
    asked,
    primary: { body: PRIMARY_CARD },
    fallback: { body: FALLBACK_CARD },
    get poured() {
      return poured
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}

// A gateway with live events, and clients that listen over a socket.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { audit } from '../../../plugins/audit/index.ts'
import { connections } from '../../../plugins/connections/index.ts'
import { keys } from '../../../plugins/keys/index.ts'
import { liveEvents } from '../../../plugins/live-events/index.ts'
import { metrics } from '../../../plugins/metrics/index.ts'
import { settings } from '../../../plugins/settings/index.ts'
import { signIn } from '../../../plugins/sign-in/index.ts'
import { virtualModels } from '../../../plugins/virtual-models/index.ts'

export function tellingGateway(options: TestGatewayOptions & { before?: Plugin[] } = {}): Promise<TestGateway> {
  const { before = [], ...rest } = options
  const plugins = [settings(), audit(), signIn(), keys(), connections(), virtualModels(), ...before, liveEvents(), metrics()]
  return createTestGateway({ ...rest, config: { ...rest.config, plugins } })
}

export interface Heard {
  readonly events: EventSourceMessage[]
  readonly comments: string[]
  /** Returns all bytes as text. */
  raw(): string
  /** Resolves when the condition holds. */
  until(condition: () => boolean): Promise<void>
  readonly over: boolean
}

function hearing(): Heard & { feed(text: string): void; end(): void } {
  const events: EventSourceMessage[] = []
  const comments: string[] = []
  let raw = ''
  let over = false
  const parser = createParser({ onEvent: (event) => events.push(event), onComment: (comment) => comments.push(comment) })
  return {
    events,
    comments,
    raw: () => raw,
    get over() {
      return over
    },
    feed(text) {
      raw += text
      parser.feed(text)
    },
    end() {
      over = true
    },
    async until(condition) {
      const limit = performance.now() + 15_000
      while (!condition()) {
        if (performance.now() > limit) throw new Error(`Heard only: ${raw}`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

export interface Client extends Heard {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  leave(): void
}

/** Connects over a real socket. */
export function connect(port: number, path = '/api/events', headers: Record<string, string> = {}): Promise<Client> {
  return new Promise((resolve, reject) => {
    const heard = hearing()
    const sent = httpRequest(
      { host: '127.0.0.1', port, path, headers: { accept: 'text/event-stream', ...headers }, agent: false },
      (response) => {
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => heard.feed(chunk))
        response.on('close', () => heard.end())
        response.on('error', () => heard.end())
        const { statusCode: status = 0, headers: answered } = response
        resolve({
          events: heard.events,
          comments: heard.comments,
          raw: heard.raw,
          until: heard.until,
          get over() {
            return heard.over
          },
          status,
          headers: answered,
          leave: () => void sent.destroy(),
        })
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

/** Listens through `gateway.fetch`. */
export async function listenIn(
  t: Pick<TestGateway, 'fetch'>,
  path = '/api/events',
  headers: Record<string, string> = {},
): Promise<Heard & { response: Response; leave(): Promise<void> }> {
  const response = await t.fetch(path, { headers })
  const heard = hearing()
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return heard.end()
      heard.feed(decoder.decode(value, { stream: true }))
    }
  })()
  return Object.assign(heard, { response, leave: () => reader.cancel() })
}

export const dataOf = (event: EventSourceMessage | undefined): Record<string, unknown> =>
  JSON.parse(event?.data ?? 'null') as Record<string, unknown>

export function requestsOf({ events }: Heard): EventSourceMessage[] {
  return events.filter(({ event }) => event === 'request')
}

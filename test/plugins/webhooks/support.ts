// A gateway, a receiver that its webhooks reach, and what arrived there.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { outboundPost } from '../../../adapters/transport/outbound-post.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PluginGateway, Services } from '../../../core/types/plugin/plugin.ts'
import type { OutboundPost } from '../../../core/types/ports/ports.ts'
import { type JumpingClock, jumpingClock } from '../sign-in/support.ts'

export const PUBLIC = '93.184.215.14'
/** Resolves to a public address, behind which the receiver listens. */
export const HOOK_URL = 'http://hooks.example.com/in'

export interface Arrived {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  /** The gateway's wall clock, where that is known. */
  readonly at: number
  /** Of the gateway, in memory. */
  readonly signal?: AbortSignal
}

export interface Envelope {
  id: string
  type: string
  created_at: string
  api_version: string
  org_id: number | null
  data: Record<string, unknown>
}

export interface Endpoint {
  id: string
  url: string
  event_types: string[]
  format: string
  enabled: boolean
  secret_hint: string | null
  failing_since: string | null
  created_at: string
  updated_at: string
  secret: string
}

export interface Delivery {
  id: string
  endpoint_id: string
  event_id: string
  event_type: string
  status: string
  attempts: number
  next_attempt_at: string | null
  last_status: number | null
  last_error: string | null
  created_at: string
  delivered_at: string | null
}

type Answer = (arrived: Arrived) => Promise<{ status: number }> | { status: number }

/** In memory: answers without I/O, so that a clock that is moved by hand says exactly when. */
export interface Receiver {
  readonly arrived: Arrived[]
  answer: Answer
  readonly post: OutboundPost
}

export function memoryReceiver(now: () => number): Receiver {
  const receiver: Receiver & { post: OutboundPost } = {
    arrived: [],
    answer: () => ({ status: 200 }),
    async post({ url, headers, body, signal }) {
      const one: Arrived = { path: new URL(url).pathname, headers: { ...headers }, body, at: now(), signal }
      receiver.arrived.push(one)
      return receiver.answer(one)
    },
  }
  return receiver
}

export interface SocketReceiver {
  readonly arrived: Arrived[]
  answer: (arrived: Arrived, response: ServerResponse) => void
  readonly port: number
  /** Addresses that were dialled. */
  readonly dialled: string[]
  readonly post: OutboundPost
  close(): Promise<void>
}

/** A server on loopback, reached by a name that resolves to what `resolve` says and a dial that ends here. */
export async function socketReceiver(resolve: (host: string) => readonly string[] = () => [PUBLIC]): Promise<SocketReceiver> {
  const arrived: Arrived[] = []
  const dialled: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = {
        path: request.url as string,
        headers: flat(request.headers),
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      }
      arrived.push(one)
      receiver.answer(one, response)
    })
  })
  const port = await listening(server)
  const receiver: SocketReceiver = {
    arrived,
    port,
    dialled,
    answer: (_arrived, response) => void response.writeHead(200).end('ok'),
    post: outboundPost({
      resolve: async (host) => resolve(host).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      dial: (address) => {
        dialled.push(address)
        return { host: '127.0.0.1', port }
      },
    }),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return receiver
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

export interface World extends TestGateway {
  readonly clock: JumpingClock
  readonly receiver: Receiver
  /** What a plugin would see. */
  readonly plugin: PluginGateway
  readonly outbox: Services['outbox']
  call(method: string, path: string, body?: unknown): Promise<Response>
  endpoint(body?: Record<string, unknown>): Promise<Endpoint>
  endpoints(): Promise<Endpoint[]>
  deliveries(query?: string): Promise<Delivery[]>
  /** The first `count` arrivals. */
  arrivals(count: number): Promise<Arrived[]>
  /** The clock shows this time, and whatever became due has been looked at. */
  reach(at: number): Promise<void>
}

export interface WorldOptions extends TestGatewayOptions {
  clock?: JumpingClock
  receiver?: Receiver
}

/** Jittered jobs would leave it between two milliseconds, and a timer for an exact one just behind it. */
export function wholeClock(): JumpingClock {
  const clock = jumpingClock()
  return { ...clock, timer: (ms, fn, background) => clock.timer(Math.ceil(ms), fn, background) }
}

export async function world({ clock = wholeClock(), receiver, ...options }: WorldOptions = {}): Promise<World> {
  const ears = receiver ?? memoryReceiver(() => clock.now())
  let seen: PluginGateway | undefined
  const observer = definePlugin({
    name: 'observer',
    requires: ['outbox'],
    setup(gateway) {
      seen = gateway as unknown as PluginGateway
      gateway.use('outbox')
    },
  })
  const t = await createTestGateway({
    ...options,
    plugins: [...(options.plugins ?? []), observer()],
    ports: { clock, outboundPost: ears.post, ...options.ports },
  })
  const plugin = seen as unknown as PluginGateway
  const call: World['call'] = (method, path, body) =>
    t.fetch(path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const data = async <T>(path: string): Promise<T[]> => ((await (await call('GET', path)).json()) as { data: T[] }).data
  return {
    ...t,
    clock,
    receiver: ears,
    plugin,
    outbox: plugin.use('outbox'),
    call,
    async endpoint(body = {}) {
      const response = await call('POST', '/api/webhooks/endpoints', { url: HOOK_URL, ...body })
      if (response.status !== 201) throw new Error(`POST endpoints: ${response.status} ${await response.text()}`)
      return (await response.json()) as Endpoint
    },
    endpoints: () => data<Endpoint>('/api/webhooks/endpoints'),
    deliveries: (query = '') => data<Delivery>(`/api/webhooks/deliveries?limit=200${query}`),
    async arrivals(count) {
      await until(() => ears.arrived.length >= count, `fewer than ${count} arrived`)
      return ears.arrived.slice(0, count)
    },
    async reach(at) {
      const ahead = at - clock.now()
      if (ahead > 2000) clock.jump(Math.floor(ahead) - 2000)
      await clock.advance(at - clock.now())
      await turns()
    },
  }
}

/** Lets I/O take its turns; the gateway's clock stands. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'it did not become true'): Promise<void> {
  const end = performance.now() + 45_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`In 45 s ${what}.`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export async function turns(count = 50): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

export const envelopeIn = ({ body }: { body: string }): Envelope => JSON.parse(body) as Envelope

/** An event that every endpoint gets, and that nothing debounces. */
export const SOMETHING = {
  type: 'account.quota_exhausted',
  orgId: null,
  data: { provider: 'acme', account_id: '7', occurred_at: '2026-01-01T00:00:00.000Z' },
} as const

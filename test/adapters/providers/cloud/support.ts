// Servers and a gateway for the tests of the clouds.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { fakeClock } from '../../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../../core/config/define.ts'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Server {
  readonly url: string
  readonly seen: Seen[]
}

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

export async function server(answer: (seen: Seen, response: ServerResponse, count: number) => void): Promise<Server> {
  const seen: Seen[] = []
  const made = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    }
    seen.push(one)
    answer(one, response, seen.length)
  })
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  ending.push(() => {
    made.closeAllConnections()
    return new Promise<void>((resolve) => made.close(() => resolve()))
  })
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, seen }
}

export const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export const tokens = () =>
  server((_seen, response, count) => json(response, { access_token: `token-${count}`, expires_in: 3600, token_type: 'Bearer' }))

export async function gateway(
  connections: GatewayConfig['connections'],
): Promise<{ t: TestGateway; clock: ReturnType<typeof fakeClock> }> {
  const clock = fakeClock(Date.UTC(2026, 5, 1))
  const t = await createTestGateway({ config: { connections: connections ?? {} }, ports: { clock } })
  ending.push(() => t.close())
  return { t, clock }
}

export const ask = (t: TestGateway, model: string, more: object = {}) =>
  t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...more })

// A gateway with one recipe, and a small HTTP server that records what a recipe posts to it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect } from 'vitest'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../adapters/testing/index.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import { rows } from './sse.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

export async function withRecipe(plugin: Plugin, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const t = await createTestGateway({ ...options, plugins: [plugin, ...(options.plugins ?? [])] })
  open.push(t)
  return t
}

export interface Receiver {
  readonly url: string
  readonly bodies: Record<string, unknown>[]
  /** Answers every post with this JSON; an undefined value is a 500. */
  answer: object | undefined
}

export async function receiver(answer?: object): Promise<Receiver> {
  const bodies: Record<string, unknown>[] = []
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    if (made.answer === undefined) return void res.writeHead(500).end()
    bodies.push(JSON.parse(text))
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(made.answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({ close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) })
  const made: Receiver = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies, answer: answer ?? {} }
  return made
}

export const chat = (model = 'chat/m', more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})

/** The text of a chat answer, streamed or not. */
export async function textOf(response: Response): Promise<string> {
  expect(response.status).toBe(200)
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    return choices[0]?.message.content ?? ''
  }
  return rows(await response.text())
    .map(({ choices }) => choices[0]?.delta?.content ?? '')
    .join('')
}

export async function errorOf(response: Response): Promise<{ status: number; message: string; code: unknown; param: unknown }> {
  const { error } = (await response.json()) as { error: { message: string; code: unknown; param: unknown } }
  return { status: response.status, message: error.message, code: error.code, param: error.param }
}

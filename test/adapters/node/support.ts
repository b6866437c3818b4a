// Requests in every dialect, raw sockets, and comparable answers.
import { connect, type Socket } from 'node:net'
import type { Dialect } from '../../../core/types/request/canonical.ts'

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

export interface Call {
  path: string
  body: Record<string, unknown>
}

/** The same question in each dialect. */
export function ask(dialect: Dialect, model: string, { stream = false, text = 'Hello there' } = {}): Call {
  const messages = [{ role: 'user', content: text }]
  if (dialect === 'chat') return { path: '/v1/chat/completions', body: { model, messages, stream } }
  if (dialect === 'messages') return { path: '/v1/messages', body: { model, max_tokens: 100, messages, stream } }
  if (dialect === 'responses') return { path: '/v1/responses', body: { model, input: text, stream } }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `/v1beta/models/${model}:${verb}`, body: { contents: [{ role: 'user', parts: [{ text }] }] } }
}

export function post(base: string, { path, body }: Call, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string>) }
  return fetch(base + path, { ...init, method: 'POST', headers, body: JSON.stringify(body) })
}

/** Matches when the dialect's SDK would see a mid-stream failure. */
export const ERROR_FRAME: Record<Dialect, RegExp> = {
  chat: /data: \{[^\n]*"error":\{[^\n]*\}\n\n$/,
  messages: /event: error\ndata: \{"type":"error","error":\{[^\n]*\}\n\n$/,
  responses: /event: response\.failed\ndata: \{[^\n]*"status":"failed"[^\n]*\}\n\n$/,
  generate_content: /data: \{"error":\{[^\n]*\}\n\n$/,
}

/** Sends raw text; resolves with everything received until the other side closed, or `ms` passed. */
export async function rawHttp(port: number, text: string, ms = 30_000): Promise<string> {
  const socket = await openSocket(port)
  const answer = collect(socket)
  socket.write(text)
  const timer = setTimeout(() => socket.destroy(), ms)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(timer)
  return answer()
}

export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Returns everything received so far. */
export function collect(socket: Socket): () => string {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  return () => received
}

export async function until(condition: () => boolean, ms = 30_000): Promise<void> {
  const end = performance.now() + ms
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Not within ${ms} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export async function eventually(condition: () => Promise<boolean>, ms = 30_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Not within ${ms} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

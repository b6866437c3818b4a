// A real HTTP server that speaks all four dialects. It follows a script, one step per request, and records the requests. After the script
// it repeats the last step.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { BuiltInDialect, Dialect } from '../../core/types/request/canonical.ts'
import type { Certificate } from './certificate.ts'
import { isOperation, operationReply } from './operations/vendor.ts'
import { chatReplies } from './replies/chat.ts'
import { generateContentReplies } from './replies/generate-content.ts'
import { messagesReplies } from './replies/messages.ts'
import type { ReplyRenderer } from './replies/reply.ts'
import { responsesReplies } from './replies/responses.ts'
import type { Delivery, RecordedRequest, Step } from './script.ts'

export const RENDERERS: Readonly<Record<BuiltInDialect, ReplyRenderer> & Partial<Record<Dialect, ReplyRenderer>>> = {
  chat: chatReplies,
  messages: messagesReplies,
  responses: responsesReplies,
  generate_content: generateContentReplies,
}

export interface ScriptedUpstream {
  readonly port: number
  /** Returns the base URL for a connection with this wire format. */
  baseUrl(dialect: Dialect): string
  readonly requests: RecordedRequest[]
  /** Adds steps after the remaining ones. */
  push(...steps: Step[]): void
  /** Replaces the remaining steps. */
  script(...steps: Step[]): void
  /** Number of open client connections. */
  readonly connections: number
  close(): Promise<void>
}

export function scriptedUpstream(...script: Step[]): Promise<ScriptedUpstream> {
  return started('http', createServer, script)
}

/** Starts the same server with TLS. */
export function secureUpstream(tls: Certificate, ...script: Step[]): Promise<ScriptedUpstream> {
  return started('https', (listener) => createSecureServer({ key: tls.key, cert: tls.cert }, listener), script)
}

async function started(
  scheme: 'http' | 'https',
  create: (listener: RequestListener) => Server,
  script: readonly Step[],
): Promise<ScriptedUpstream> {
  let steps = [...script]
  let last: Step = script.at(-1) ?? { kind: 'reply', reply: { text: 'Hello from the scripted upstream.' } }
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket>()
  const server = create((req, res) => {
    void serve(req, res).catch(() => res.destroy())
  })
  // A stall of the machine must not close a connection that already carries a request.
  server.keepAliveTimeout = 600_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const recorded = record(req, Buffer.concat(chunks).toString())
    requests.push(recorded)
    const closed = (): void => {
      if (!res.writableFinished) recorded.abortedAt = performance.now()
    }
    // The client may have left during the read of its body.
    if (res.closed) closed()
    else res.on('close', closed)
    const step = steps.shift() ?? last
    last = step
    await play(step.kind === 'choose' ? step.choose(recorded) : step, recorded, res)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    baseUrl: (dialect) => `${scheme}://127.0.0.1:${port}/${dialect === 'generate_content' ? 'v1beta' : 'v1'}`,
    requests,
    push: (...more) => void steps.push(...more),
    script: (...next) => {
      steps = [...next]
    },
    get connections() {
      return sockets.size
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function record(req: IncomingMessage, text: string): RecordedRequest {
  const path = req.url ?? '/'
  let json: Record<string, unknown> = {}
  try {
    json = JSON.parse(text) as Record<string, unknown>
  } catch {
    // Invalid JSON is recorded as text, for tests that send it.
  }
  const dialect = dialectOf(path)
  const stream = dialect === 'generate_content' ? path.includes(':streamGenerateContent') : json.stream === true
  return {
    method: req.method ?? 'GET',
    path,
    headers: req.headers,
    text,
    json,
    dialect,
    stream,
    at: performance.now(),
    abortedAt: null,
  }
}

function dialectOf(path: string): Dialect {
  if (path.includes('/chat/completions')) return 'chat'
  if (path.includes('/messages')) return 'messages'
  return path.includes('/responses') ? 'responses' : 'generate_content'
}

async function play(step: Step, request: RecordedRequest, res: ServerResponse): Promise<void> {
  if (step.kind === 'hang') return
  if (step.kind === 'reset') return void res.socket?.resetAndDestroy()
  for (const status of step.inform ?? []) inform(res, status)
  if (step.delayMs) await sleep(step.delayMs)
  const renderer = RENDERERS[request.dialect as BuiltInDialect]
  if (step.kind === 'fail') {
    const { message, code, param } = step
    const detail = { ...(code === undefined ? {} : { code }), ...(param === undefined ? {} : { param }) }
    return whole(res, step.status, JSON.stringify(renderer.error(step.status, message, detail)), step)
  }
  if (step.kind === 'raw') return whole(res, step.status, step.body, step)
  if (request.path.endsWith(':countTokens')) return whole(res, 200, JSON.stringify({ totalTokens: 42 }), step)
  if (request.path.endsWith('/input_tokens'))
    return whole(res, 200, JSON.stringify({ object: 'response.input_tokens', input_tokens: 42 }), step)
  if (request.path.includes('count_tokens')) return whole(res, 200, JSON.stringify({ input_tokens: 42 }), step)
  if (step.kind === 'reply' && isOperation(request)) {
    const made = operationReply(request)
    return made.kind === 'raw' || made.kind === 'frames' ? play({ ...step, ...made }, request, res) : undefined
  }
  const stream = step.kind === 'frames' || (step.kind === 'reply' && step.as !== undefined ? step.as === 'sse' : request.stream)
  if (!stream && (step.kind === 'reply' || step.kind === 'broken'))
    return whole(res, 200, JSON.stringify(renderer.json(step.reply)), step)
  await streamed(res, framesOf(step, renderer), step)
}

function inform(res: ServerResponse, status: 100 | 102 | 103): void {
  if (status === 100) res.writeContinue()
  else if (status === 102) res.writeProcessing()
  else res.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
}

function framesOf(step: Step, renderer: ReplyRenderer): readonly string[] {
  if (step.kind === 'frames') return step.frames
  if (step.kind === 'broken')
    return [...renderer.frames(step.reply).slice(0, step.after), ...renderer.errorFrames(step.message, step.status)]
  return step.kind === 'reply' ? renderer.frames(step.reply) : []
}

async function whole(res: ServerResponse, status: number, body: string | Uint8Array, delivery: Delivery): Promise<void> {
  const bytes = compressed(typeof body === 'string' ? Buffer.from(body) : Buffer.from(body), delivery)
  if (delivery.hold) await delivery.hold(bytes.toString())
  res.writeHead(status, {
    'content-type': delivery.contentType ?? 'application/json',
    ...encodingHeader(delivery),
    ...delivery.headers,
  })
  if (delivery.cut) {
    res.write(bytes.subarray(0, delivery.cut.after))
    setImmediate(() => end(res, delivery))
    return
  }
  res.end(bytes)
}

async function streamed(res: ServerResponse, list: readonly string[], delivery: Delivery): Promise<void> {
  res.writeHead(200, {
    'content-type': delivery.contentType ?? 'text/event-stream',
    ...encodingHeader(delivery),
    ...delivery.headers,
  })
  const pieces = chunked(list, delivery)
  const closed = new Promise((resolve) => res.once('close', resolve))
  for (const [index, piece] of pieces.entries()) {
    if (delivery.stallAfter === index) return
    if (delivery.cut?.after === index) return end(res, delivery)
    if (delivery.hold) await delivery.hold(piece.toString())
    if (res.destroyed) return
    if (!res.write(piece)) await Promise.race([new Promise((resolve) => res.once('drain', resolve)), closed])
    if (delivery.everyMs) await sleep(delivery.everyMs)
  }
  if (delivery.stallAfter !== undefined && delivery.stallAfter >= pieces.length) return
  if (delivery.cut !== undefined) return end(res, delivery)
  res.end()
}

function chunked(list: readonly string[], delivery: Delivery): Buffer[] {
  if (delivery.encoding !== undefined) return [compressed(Buffer.from(list.join('')), delivery)]
  const { splitBytes } = delivery
  if (splitBytes === undefined) return list.map((frame) => Buffer.from(frame))
  const bytes = Buffer.from(list.join(''))
  const out: Buffer[] = []
  for (let at = 0; at < bytes.length; at += splitBytes) out.push(bytes.subarray(at, at + splitBytes))
  return out
}

/** FIN without the chunked terminator, or RST. */
function end(res: ServerResponse, delivery: Delivery): void {
  if (delivery.cut?.how === 'reset') res.socket?.resetAndDestroy()
  else res.socket?.end()
}

function compressed(bytes: Buffer, delivery: Delivery): Buffer {
  if (delivery.encoding === 'gzip') return gzipSync(bytes)
  return delivery.encoding === 'br' ? brotliCompressSync(bytes) : bytes
}

function encodingHeader(delivery: Delivery): Record<string, string> {
  return delivery.encoding === undefined ? {} : { 'content-encoding': delivery.encoding }
}

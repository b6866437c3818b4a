// One WebSocket at /v1/responses: each `response.create` message is an ordinary run of the pipeline, with its own authorization, limits,
// budgets and log row. One run at a time.
import { headerBag } from '../../core/http/headers.ts'
import { randomId } from '../../core/ids/ids.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { Gateway } from '../../core/types/gateway.ts'
import type { Clock, Ingress, Peer, Timer } from '../../core/types/ports/ports.ts'
import type { SseFrame } from '../../core/types/request/dialect.ts'
import type { HostContext } from '../../core/types/request/host.ts'
import { Chain, type Request } from './chain.ts'
import { completedResponse, preparedResponse } from './prepared.ts'
import { errorMessage, type MessageOut, SocketSink } from './socket-sink.ts'

export const SOCKET_PATH = '/v1/responses'

/** A socket is closed after this time, when no run is under way. */
const LIFETIME_MS = 60 * 60_000
/** Codes of a close frame. */
const NORMAL = 1000
const GOING_AWAY = 1001
const POLICY = 1008

/** A connection of the host. */
export interface SocketLine extends MessageOut {
  close(code: number, reason: string): void
}

export interface SocketOrigin {
  /** Flat [name, value, …], as the upgrade request brought them. */
  readonly headers: readonly string[]
  readonly query: string
  readonly peer: Peer
  readonly host?: HostContext
}

interface Leaving {
  readonly code: number
  readonly reason: string
  /** Sent before the close. */
  readonly message: string | null
}

/** Headers of the upgrade that belong to the connection or to one request only. */
const LEFT_OUT =
  /^(?:connection|upgrade|sec-websocket-.*|content-length|content-type|transfer-encoding|expect|accept|idempotency-key|helicone-request-id)$/i

export class ResponsesSocket {
  readonly #gateway: Pick<Gateway, 'handle'>
  readonly #clock: Pick<Clock, 'now' | 'timer'>
  readonly #line: SocketLine
  readonly #origin: SocketOrigin
  readonly #headers: readonly string[]
  readonly #lifetime: Timer
  readonly #chain = new Chain()
  #running: SocketSink | null = null
  /** Set when the socket closes after the current run. */
  #leaving: Leaving | null = null
  #closed = false

  constructor(gateway: Pick<Gateway, 'handle'>, clock: Pick<Clock, 'now' | 'timer'>, line: SocketLine, origin: SocketOrigin) {
    this.#gateway = gateway
    this.#clock = clock
    this.#line = line
    this.#origin = origin
    this.#headers = requestHeaders(origin.headers)
    this.#lifetime = clock.timer(LIFETIME_MS, () => this.#finish(NORMAL, 'time limit', LIMIT), true)
  }

  /** A message of the client. Never throws or rejects. */
  async message(text: string | null): Promise<void> {
    if (this.#closed) return
    if (text === null) return this.#refuse(null, 'A message must be text with one JSON object.')
    if (this.#leaving !== null)
      return this.#refuse(null, 'The server is going away: open a new connection.', 'server_draining', 503)
    const request = parsed(text)
    if (request === null) return this.#refuse(null, 'A message must be one JSON object.', 'invalid_json')
    if (request.type !== 'response.create') return this.#refuse('type', 'The type of a message must be `response.create`.')
    if (this.#running !== null)
      return this.#refuse(null, 'A response is being created: wait for its end.', 'response_already_in_flight', 409)
    const { type: _, generate, background: __, stream: ___, ...rest } = request
    if (generate === false) return this.#prepared(rest)
    await this.#run(rest, text.length)
  }

  /** Closes the socket when its run has ended. New messages are refused. */
  drain(): void {
    this.#finish(GOING_AWAY, 'going away', null)
  }

  /** The client is gone: its run ends. */
  closed(): void {
    if (this.#closed) return
    this.#closed = true
    this.#lifetime.cancel()
    this.#running?.leave()
    this.#chain.forget()
  }

  async #run(request: Request, chars: number): Promise<void> {
    const continues = this.#chain.continues(request)
    const sent = this.#chain.expanded(request)
    let completed: SseFrame | null = null
    let failed = false
    const sink = new SocketSink(this.#line, (frame) => {
      const kind = frame.event ?? ''
      if (kind === 'response.completed' || kind === 'response.incomplete') completed = frame
      else if (kind === 'response.failed' || kind === 'error') failed = true
    })
    this.#running = sink
    await this.#gateway.handle(this.#ingress({ ...sent, stream: true }), sink)
    sink.release()
    this.#running = null
    if (completed !== null) this.#remember(completed, sent, chars)
    // The API that this follows drops a response whose next turn failed.
    else if (continues && (failed || sink.status !== 200)) this.#chain.forget()
    if (sink.status === 401) this.#finish(POLICY, 'not authorized', null)
    if (this.#leaving !== null) this.#close(this.#leaving)
  }

  #remember(frame: SseFrame, request: Request, chars: number): void {
    const { response } = JSON.parse(frame.data) as { response?: { id?: unknown; output?: unknown } }
    if (typeof response?.id !== 'string' || !Array.isArray(response.output)) return
    this.#chain.remember(response.id, request, response.output, chars + frame.data.length)
  }

  /** `generate: false`: keeps the input for the next turn and calls no model. */
  #prepared(request: Request): void {
    const id = randomId('resp_')
    const response = preparedResponse(id, request, this.#clock.now())
    const sent = this.#chain.expanded(request)
    this.#chain.remember(id, sent, [], 0)
    this.#line.send(JSON.stringify({ type: 'response.created', sequence_number: 0, response }))
    const done = completedResponse(response, this.#clock.now())
    this.#line.send(JSON.stringify({ type: 'response.completed', sequence_number: 1, response: done }))
  }

  #ingress(body: Request): Ingress {
    const bytes = encodeUtf8(JSON.stringify(body))
    const { query, peer, host } = this.#origin
    return {
      method: 'POST',
      path: SOCKET_PATH,
      query,
      headers: headerBag(this.#headers),
      peer,
      ...(host === undefined ? {} : { host }),
      body: async () => bytes,
      async *chunks() {
        yield bytes
      },
    }
  }

  #refuse(param: string | null, message: string, code = 'invalid_message', status = 400): void {
    const type = status === 503 ? 'api_error' : 'invalid_request_error'
    this.#line.send(errorMessage(status, { type, code, message, param }))
  }

  #finish(code: number, reason: string, message: string | null): void {
    if (this.#closed || this.#leaving !== null) return
    this.#leaving = { code, reason, message }
    if (this.#running === null) this.#close(this.#leaving)
  }

  #close({ code, reason, message }: Leaving): void {
    if (this.#closed) return
    if (message !== null) this.#line.send(message)
    this.#line.close(code, reason)
    this.closed()
  }
}

const LIMIT = errorMessage(400, {
  type: 'invalid_request_error',
  code: 'websocket_connection_limit_reached',
  message: 'A connection lives for 60 minutes. Open a new one to go on.',
  param: null,
})

function requestHeaders(given: readonly string[]): string[] {
  const list = ['content-type', 'application/json', 'accept', 'text/event-stream']
  for (let i = 0; i < given.length; i += 2)
    if (!LEFT_OUT.test(given[i] as string)) list.push(given[i] as string, given[i + 1] as string)
  return list
}

function parsed(text: string): Request | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Request) : null
  } catch {
    return null
  }
}

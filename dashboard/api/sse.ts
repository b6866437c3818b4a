// Server-Sent Events through fetch: EventSource could neither send the session nor a body.
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream'
import { mount } from '../app/mount.ts'
import { ApiError } from './error.ts'
import { signedOut, token } from './session.ts'

export interface StreamRequest {
  readonly path: string
  /** Sent as JSON with POST; absent: GET. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called for each sign of life that carries no event. */
  readonly onPing?: () => void
}

/** Yields the events of a stream. @throws ApiError */
export async function* events({
  path,
  body,
  headers = {},
  signal,
  onPing,
}: StreamRequest): AsyncGenerator<EventSourceMessage | null> {
  const response = await fetch(mount + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'text/event-stream',
      ...(token.value !== null && { authorization: `Bearer ${token.value}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
    cache: 'no-store',
  }).catch((error: unknown) => {
    throw ApiError.unreachable(error)
  })
  if (response.status === 401) signedOut.value = true
  if (!response.ok || response.body === null) throw ApiError.from(response, await response.json().catch(() => null))
  // The first null says that the stream is open.
  yield null
  const reader = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream(onPing && { onComment: onPing }))
    .getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

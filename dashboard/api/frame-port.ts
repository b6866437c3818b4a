// Serves the page of a plugin through a MessagePort. The page has no network of its own; it may ask for the plugin's routes, and sees
// neither the session nor anything else of the dashboard.
import { mount } from '../app/mount.ts'
import { signedOut, token } from './session.ts'

export interface FrameEvents {
  /** Height in CSS pixels that the page wants. */
  height(pixels: number): void
  title(text: string): void
  /** The port calls this once, with the reason, and then answers no more calls. */
  closed(why: string): void
}

const CALLS_PER_SECOND = 10
const MESSAGES_PER_SECOND = 200
const MAX_MESSAGE = 1024 * 1024
const HEIGHT = { min: 80, max: 4000 }
const MAX_TITLE = 80

interface Call {
  readonly id: number
  /** One of the routes: `GET /api/house-rules/:name`. */
  readonly call: string
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** @param routes that the page may call: `GET /api/house-rules` */
export function serveFrame(port: MessagePort, routes: readonly string[], events: FrameEvents): { close(): void } {
  const messages = perSecond(MESSAGES_PER_SECOND)
  const calls = perSecond(CALLS_PER_SECOND)
  let open = true
  const close = (why: string): void => {
    if (!open) return
    open = false
    port.close()
    events.closed(why)
  }
  const answer = async (call: Call): Promise<void> => {
    const reply = (rest: object): void => (open ? port.postMessage({ id: call.id, ...rest }) : undefined)
    const refuse = (message: string): void => reply({ error: { message } })
    if (!routes.includes(call.call)) return refuse('This page may not call that route.')
    const path = pathOf(call)
    if (path === null) return refuse('`params` must name each part of the path, with a text.')
    if (!calls()) return refuse(`At most ${CALLS_PER_SECOND} calls a second.`)
    try {
      reply(await fetched(call, path))
    } catch {
      refuse('The gateway does not answer.')
    }
  }
  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!open) return
    if (!messages()) return close('it sent too many messages')
    const size = sizeOf(data)
    if (size === null) return close('it sent a message that is no JSON')
    if (size > MAX_MESSAGE) return close('it sent a message above 1 MiB')
    const { height, title, ...call } = data as Record<string, unknown>
    if (typeof height === 'number' && Number.isFinite(height))
      events.height(Math.min(Math.max(Math.ceil(height), HEIGHT.min), HEIGHT.max))
    if (typeof title === 'string') events.title(title.slice(0, MAX_TITLE))
    if (typeof call.call === 'string' && typeof call.id === 'number')
      void answer({ id: call.id, call: call.call, params: objectOf(call.params), query: objectOf(call.query), body: call.body })
  }
  return { close: () => close('') }
}

async function fetched({ call, query, body }: Call, path: string): Promise<{ status: number; body: unknown }> {
  const [method] = call.split(' ') as [string]
  const sent = method !== 'GET' && body !== undefined
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  const response = await fetch(mount + path + (search === '' ? '' : `?${search}`), {
    method,
    headers: {
      accept: 'application/json',
      ...(sent && { 'content-type': 'application/json' }),
      ...(token.value !== null && { authorization: `Bearer ${token.value}` }),
    },
    ...(sent && { body: JSON.stringify(body) }),
    cache: 'no-store',
    redirect: 'error',
  })
  if (response.status === 401) signedOut.value = true
  return { status: response.status, body: await response.json().catch(() => null) }
}

/** Fills in the parameters. null when one is missing, or would lead to another route. */
function pathOf({ call, params }: Call): string | null {
  const parts = call.slice(call.indexOf(' ') + 1).split('/')
  const filled = parts.map((part) => {
    if (!part.startsWith(':')) return part
    const value = Object.hasOwn(params, part.slice(1)) ? params[part.slice(1)] : null
    if ((typeof value !== 'string' && typeof value !== 'number') || /^(?:\.{0,2})$/.test(String(value))) return null
    return encoded(String(value))
  })
  return filled.includes(null) ? null : filled.join('/')
}

/** null for half of a surrogate pair, which no URL can say. */
function encoded(text: string): string | null {
  try {
    return encodeURIComponent(text)
  } catch {
    return null
  }
}

/** The length of a message as JSON; null for what is no JSON object. */
function sizeOf(data: unknown): number | null {
  if (typeof data !== 'object' || data === null) return null
  try {
    return JSON.stringify(data).length
  } catch {
    return null
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns a function that is true for the first `limit` calls of each second. */
function perSecond(limit: number): () => boolean {
  let since = 0
  let used = 0
  return () => {
    const now = performance.now()
    if (now - since >= 1000) {
      since = now
      used = 0
    }
    return ++used <= limit
  }
}

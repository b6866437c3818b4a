// Completed requests as they end. All tabs of one session share one stream, because a browser opens few connections to one host.
import { signal } from '@preact/signals'
import { ApiError } from './error.ts'
import { gatewayTime } from './gateway-time.ts'
import { invalidate, invalidateAll } from './query.ts'
import { token } from './session.ts'
import { events } from './sse.ts'
import { joinTabs, type Tabs } from './tabs.ts'
import { seenVersion } from './version.ts'

/** As the server sends it; figures and names, never content. */
export interface LiveEvent {
  request_id: string
  occurred_at: string
  api_key_label: string | null
  provider: string | null
  model: string | null
  requested_model: string | null
  virtual_model: string | null
  status: number
  latency_ms: number
  ttft_ms: number | null
  attempts: number
  tokens: { prompt: number; completion: number; total: number }
  cost: { cost_usd: number | null; charge_usd: number | null }
  cached: boolean
  stream: boolean
  source: string
}

type Message =
  | { kind: 'request'; event: LiveEvent; id: string | undefined }
  | { kind: 'missed'; missed: number }
  /** `of`: what changed, such as `breaker` or `reload`; `subject`: which one. */
  | { kind: 'state'; of: string; subject: string; id: string | undefined }
  | { kind: 'hello'; version: string; generation: number | null; id: string | undefined }
  | { kind: 'up' }
  /** To a tab that joins, in place of the first message. */
  | { kind: 'greeting'; generation: number | null; id: string | undefined }
  | { kind: 'down' }

/** `absent`: this gateway has no such stream. */
export type LiveState = 'off' | 'connecting' | 'live' | 'lost' | 'absent'

export const liveState = signal<LiveState>('off')
/** Epoch ms of the last sign of life. */
export const liveAt = signal(0)
/** Number of the configuration that serves; null: not known, or not for this operator. */
export const liveGeneration = signal<number | null>(null)

const HIDDEN_MS = 60_000
const RETRY_MS = [1000, 2000, 5000, 10_000]
const listeners = new Set<(message: Message) => void>()
let tabs: Tabs | null = null
/** Of the last event that any tab has read, so that the next reader goes on behind it. */
let lastId: string | null = null

/** Calls the listener for each message until the returned function is called. The stream is open while anybody listens. */
export function listen(listener: (message: Message) => void): () => void {
  listeners.add(listener)
  start()
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) stop()
  }
}

let hiding: ReturnType<typeof setTimeout> | undefined
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiding)
  if (document.visibilityState === 'hidden') hiding = setTimeout(stop, HIDDEN_MS)
  else if (listeners.size > 0) start()
})

// Another session may see other requests.
token.subscribe(() => {
  liveGeneration.value = null
  if (tabs === null) return
  stop()
  start()
})

function start(): void {
  if (tabs !== null) return
  liveState.value = 'connecting'
  tabs = joinTabs<Message>({
    name: `hookgate-live ${token.value?.slice(-12) ?? ''}`,
    read,
    receive,
    greeting: () =>
      liveState.peek() === 'live' ? { kind: 'greeting', id: lastId ?? undefined, generation: liveGeneration.peek() } : null,
  })
}

function stop(): void {
  tabs?.leave()
  tabs = null
  for (const listener of listeners) listener({ kind: 'down' })
  liveState.value = 'off'
}

function receive(message: Message): void {
  const back = liveState.peek() === 'lost' && message.kind !== 'down'
  if (message.kind !== 'down') liveAt.value = gatewayTime()
  liveState.value = message.kind === 'down' ? 'lost' : 'live'
  if (message.kind === 'hello') seenVersion(message.version)
  if ('generation' in message) liveGeneration.value = message.generation
  // The lost stream may be the first sign that the gateway is gone; when it is back, what is on the screen is old.
  if (message.kind === 'down') void invalidate('/healthz')
  if (back) void invalidateAll()
  if ('id' in message && message.id !== undefined) lastId = message.id
  if (message.kind === 'state') void invalidate('/api/attention', '/api/providers', '/api/budgets', '/api/quota')
  if (message.kind === 'state' && message.of === 'reload') {
    // The first message names the generation to those who may know it.
    if (liveGeneration.peek() !== null) liveGeneration.value = Number(message.subject)
    void invalidate('/api/plugins')
  }
  for (const listener of listeners) listener(message)
}

async function read(tell: (message: Message) => void, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await readOnce(tell, signal, () => {
        failures = 0
      })
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        liveState.value = 'absent'
        return
      }
      // Told below: the page shows that the stream is lost.
    }
    if (signal.aborted) return
    tell({ kind: 'down' })
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] as number, signal)
  }
}

async function readOnce(tell: (message: Message) => void, signal: AbortSignal, opened: () => void): Promise<void> {
  const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId }
  for await (const message of events({ path: '/api/events', headers, signal, onPing: () => tell({ kind: 'up' }) })) {
    if (message === null) {
      opened()
      tell({ kind: 'up' })
      continue
    }
    const { event, data, id } = message
    if (event === 'lagged') tell({ kind: 'missed', missed: (JSON.parse(data) as { missed: number }).missed })
    else if (event === 'hello') {
      const { version, generation = null } = JSON.parse(data) as { version: string; generation?: number }
      tell({ kind: 'hello', version, generation, id: id || undefined })
    } else if (event === 'state') {
      const { kind: of, id: subject } = JSON.parse(data) as { kind: string; id: string }
      tell({ kind: 'state', of, subject, id: id || undefined })
    } else if (event === 'request') tell({ kind: 'request', event: JSON.parse(data) as LiveEvent, id: id || undefined })
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}

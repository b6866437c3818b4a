// The typed event bus. It is synchronous, and a failing listener never affects the emitter.
import { HookableCore } from 'hookable'
import type { EventMap } from '../types/plugin/plugin.ts'
import type { Logger } from '../types/ports/ports.ts'

export interface EmittedEvent {
  readonly type: string
  readonly data: unknown
  readonly orgId: number | null
  /** Epoch ms. */
  readonly at: number
}

type Listener = (data: unknown, event: EmittedEvent) => unknown
interface ListenerTable {
  hook(type: string, listener: Listener): () => void
  callHook(type: string, data: unknown, event: EmittedEvent): unknown
}

export class EventBus {
  readonly #listeners = new HookableCore() as unknown as ListenerTable
  readonly #log: Logger
  readonly #now: () => number

  constructor(log: Logger, now: () => number) {
    this.#log = log
    this.#now = now
  }

  /** Listens to one type, or with `*` to all. Returns the unsubscribe function. */
  on<K extends keyof EventMap>(type: K | '*', fn: (data: EventMap[K], event: EmittedEvent) => void): () => void {
    const listener: Listener = (data, event) => {
      try {
        const returned: unknown = fn(data as EventMap[K], event)
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#failed(event.type, error))
      } catch (error) {
        this.#failed(event.type, error)
      }
    }
    return this.#listeners.hook(type as string, listener)
  }

  emit<K extends keyof EventMap>(type: K, data: EventMap[K], options: { orgId?: number | null } = {}): void {
    const event: EmittedEvent = { type: type as string, data, orgId: options.orgId ?? null, at: this.#now() }
    void this.#listeners.callHook(event.type, data, event)
    void this.#listeners.callHook('*', data, event)
  }

  #failed(type: string, error: unknown): void {
    this.#log.error('event.listener_failed', { type, error: error instanceof Error ? error.message : String(error) })
  }
}

// Types of the services `webhooks` and `outbox`. Signing secrets stay inside this plugin.
import type { Statement } from '../../core/types/ports/db.ts'

export const FORMATS = ['standard', 'slack', 'discord'] as const
export type WebhookFormat = (typeof FORMATS)[number]

/**
 * `pending` until it is delivered or given up. `dead`: the last retry failed. `failed`: given up earlier, because its endpoint was
 * disabled or removed, or because it is a test, which is sent once.
 */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'dead'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export interface WebhookEndpoint {
  /** For example `ep_…`. */
  readonly id: string
  readonly orgId: number | null
  readonly url: string
  /** Empty: every event that is on by default. */
  readonly eventTypes: readonly string[]
  readonly format: WebhookFormat
  readonly enabled: boolean
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  /** Epoch ms. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Active endpoints, also disabled ones, read from memory. */
export interface WebhookService {
  /** In the order of creation. */
  list(orgId: number | null): readonly WebhookEndpoint[]
  get(orgId: number | null, id: string): WebhookEndpoint | null
}

/** An event for subscribers. */
export interface OutboxEvent {
  /** Type from the catalog: `budget.crossed`. */
  readonly type: string
  readonly orgId: number | null
  /** Members of the event; never a prompt or an answer. */
  readonly data: Readonly<Record<string, unknown>>
  /** Epoch ms; default: now. */
  readonly occurredAt?: number
  /**
   * Suppresses repetitions with this key for `ttlMs`, across replicas; the event's type and organization are part of the key. Default:
   * the catalog's rule for the type (`budget.*`: `dedup_key`, 24 hours).
   */
  readonly dedup?: { readonly key: string; readonly ttlMs: number }
}

export interface Outbox {
  /**
   * Returns statements that queue the event in the caller's own transaction or unit; an empty list without subscribers, or when it was
   * emitted within its `ttlMs`. They are safe to apply twice.
   */
  statements(event: OutboxEvent): Statement[]
  /** Queues the event in its own transaction. Never rejects; a failure is logged. */
  publish(event: OutboxEvent): Promise<void>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    webhooks: WebhookService
    outbox: Outbox
  }
}

// The outbox: an event becomes one row for itself, and one for each endpoint that is subscribed now. Endpoints created later do not get
// it.
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Statement } from '../../core/types/ports/db.ts'
import { kindOf, subscribes } from './events/catalog.ts'
import { type Debounce, envelopeOf, queueStatements } from './queue.ts'
import type { Outbox, OutboxEvent, WebhookEndpoint } from './service.ts'

export interface OutboxParts {
  readonly gateway: PluginGateway
  endpoints(): readonly WebhookEndpoint[]
  /** Called when a transaction may have queued an event. */
  queued(): void
}

export interface FullOutbox extends Outbox {
  /** Returns whether any endpoint is subscribed to the event. */
  wanted(type: string, orgId: number | null): boolean
  /** Queues the event for all endpoints except one. */
  statementsWithout(endpointId: string, event: OutboxEvent): Statement[]
}

// Keys that are known to be debounced, so that a storm of errors does not write. The database decides; these are its earlier answers.
const MAX_KEYS = 10_000
/** Delay after statements were passed on: most transactions have ended by then. */
const ASK_AFTER_MS = 250

interface Debounced {
  has(key: string): boolean
  /** Queries the database after the delay. */
  learn(key: string): void
}

function debounced({ db, clock, log }: PluginGateway): Debounced {
  const untils = new Map<string, number>()
  const asked = new Set<string>()
  const ask = async (key: string): Promise<void> => {
    const row = await db.get<{ until: number }>(sql`SELECT until FROM webhooks_dedup WHERE key = ${key}`)
    if (row === undefined || row.until <= clock.now()) return
    if (untils.size >= MAX_KEYS) untils.clear()
    untils.set(key, row.until)
  }
  return {
    has(key) {
      const until = untils.get(key)
      if (until === undefined) return false
      if (until > clock.now()) return true
      untils.delete(key)
      return false
    },
    learn(key) {
      if (asked.has(key) || asked.size >= MAX_KEYS) return
      asked.add(key)
      const look = () =>
        void ask(key)
          .catch((error: unknown) => log.debug('webhooks.debounce_unread', { error: String(error) }))
          .finally(() => asked.delete(key))
      clock.timer(ASK_AFTER_MS, look, true)
    },
  }
}

export function outbox({ gateway, endpoints, queued }: OutboxParts): FullOutbox {
  const { clock, db, log } = gateway
  const known = debounced(gateway)

  const subscribers = (type: string, orgId: number | null): WebhookEndpoint[] =>
    endpoints().filter((endpoint) => endpoint.orgId === orgId && subscribes(endpoint, type))

  const queue = (event: OutboxEvent, to: readonly WebhookEndpoint[]): Statement[] => {
    if (to.length === 0) return []
    const now = clock.now()
    // Use the event's own time: callers that debounce themselves use it too.
    const at = event.occurredAt ?? now
    const debounce = debounceOf(event, at)
    if (debounce !== undefined) {
      if (known.has(debounce.key)) return []
      known.learn(debounce.key)
    }
    const envelope = envelopeOf(event, at)
    const ids = to.map(({ id }) => id)
    return queueStatements(envelope, ids, now, debounce && { debounce })
  }

  const statements = (event: OutboxEvent): Statement[] => queue(event, subscribers(event.type, event.orgId))

  return {
    wanted: (type, orgId) => endpoints().some((endpoint) => endpoint.orgId === orgId && subscribes(endpoint, type)),
    statements,
    statementsWithout: (endpointId, event) =>
      queue(
        event,
        subscribers(event.type, event.orgId).filter(({ id }) => id !== endpointId),
      ),
    async publish(event) {
      try {
        const list = statements(event)
        if (list.length === 0) return
        await db.atomic(list)
        queued()
      } catch (error) {
        log.error('webhooks.not_queued', { type: event.type, error: error instanceof Error ? error.message : String(error) })
      }
    },
  }
}

function debounceOf({ type, orgId, data, dedup }: OutboxEvent, at: number): Debounce | undefined {
  const rule = kindOf(type)?.debounce
  const value = dedup?.key ?? (rule === undefined ? undefined : data[rule.by])
  const ms = dedup?.ttlMs ?? rule?.ms
  if (typeof value !== 'string' || ms === undefined) return undefined
  return { key: `${orgId ?? 0}:${type}:${value}`, from: at, until: at + ms }
}

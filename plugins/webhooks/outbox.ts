// The outbox: an event becomes rows, one for itself and one for each endpoint that subscribes to it now. An endpoint that is made
// later gets nothing of it.
import { sql } from '../../core/db/sql.ts'
import type { Statement } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { kindOf, subscribes } from './events/catalog.ts'
import { type Debounce, envelopeOf, queueStatements } from './queue.ts'
import type { Outbox, OutboxEvent, WebhookEndpoint } from './service.ts'

export interface OutboxParts {
  readonly gateway: PluginGateway
  endpoints(): readonly WebhookEndpoint[]
  /** Something was committed. */
  queued(): void
}

export interface FullOutbox extends Outbox {
  /** Whether any endpoint subscribes to the event. */
  wanted(type: string, orgId: number | null): boolean
  /** To all but one endpoint. */
  statementsWithout(endpointId: string, event: OutboxEvent): Statement[]
}

// Keys that are known to be debounced, so that a storm of errors does not write. The database decides; this is what it said.
const MAX_KEYS = 10_000
/** After statements were handed out: most transactions are through by then. */
const ASK_AFTER_MS = 250

interface Debounced {
  has(key: string): boolean
  /** Asks the database, soon. */
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

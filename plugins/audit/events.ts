// Emits key and user events from audit entries, and `audit.appended` for each entry.
import type { EventMap, PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Link } from './chain.ts'

/** Members of `data` in key.* and user.* events. */
export interface AuditedEvent {
  readonly action: string
  readonly actor: string
  readonly target: string | null
  readonly org_id: number | null
  /** RFC 3339 UTC. */
  readonly at: string
  readonly details: Readonly<Record<string, unknown>>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface EventMap {
    'key.created': AuditedEvent
    'key.rotated': AuditedEvent
    'key.deleted': AuditedEvent
    'user.created': AuditedEvent
    'user.deleted': AuditedEvent
    /** An operator changed something on this replica. */
    'audit.appended': { readonly action: string }
  }
}

type Bridged = 'key.created' | 'key.rotated' | 'key.deleted' | 'user.created' | 'user.deleted'

const EVENTS: ReadonlyMap<string, Bridged> = new Map([
  ['key.create', 'key.created'],
  ['key.rotate', 'key.rotated'],
  ['key.delete', 'key.deleted'],
  ['user.create', 'user.created'],
  ['user.delete', 'user.deleted'],
])

export const SUBSCRIPTIONS = Object.fromEntries([...EVENTS.values()].map((type) => [type, { defaultOn: false }])) as Partial<
  Record<keyof EventMap, { defaultOn: boolean }>
>

export function bridge(events: PluginGateway['events'], link: Link): void {
  const orgId = link.org_id === 0 ? null : link.org_id
  events.emit('audit.appended', { action: link.action }, { orgId: orgId })
  const type = EVENTS.get(link.action)
  if (type === undefined) return
  const { action, actor, target, at } = link
  const details = JSON.parse(link.details) as Record<string, unknown>
  events.emit(type, { action, actor, target, org_id: orgId, at: new Date(at).toISOString(), details }, { orgId })
}

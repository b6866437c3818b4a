// Queues events of the bus that endpoints can subscribe to, with the catalog's members only.
import type { EventMap, PluginGateway } from '../../core/types/plugin.ts'
import { EVENT_TYPES, kindOf } from './catalog.ts'
import type { Outbox } from './service.ts'

export function bridge({ events }: PluginGateway, outbox: Outbox): void {
  for (const type of EVENT_TYPES) {
    const members = kindOf(type)?.members
    if (members === undefined) continue
    // Emitting plugins declare their event types; without the plugin no event arrives.
    events.on(type as keyof EventMap, (data: unknown, { orgId }) => {
      void outbox.publish({ type, orgId, data: picked(data as Readonly<Record<string, unknown>>, members) })
    })
  }
}

function picked(data: Readonly<Record<string, unknown>>, members: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(members.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]))
}

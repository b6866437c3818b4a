// Implements the service `portable`: the kinds of the running plugins, and transactions over them.
import { topoSort } from '../collections/topo.ts'
import { rehearse } from '../db/rehearse.ts'
import type { ViewHub } from '../db/views.ts'
import type { PortableKind, PortableService } from '../types/plugin/portable.ts'
import type { Database, View } from '../types/ports/db.ts'
import type { Generation } from './generation.ts'

export function portableRows(
  generation: () => Generation,
  db: Database | undefined,
  views: ViewHub | undefined,
): PortableService {
  const kinds = () => ordered(generation().instances.flatMap(({ portable }) => portable))
  return {
    kinds,
    rows(kind, orgId) {
      const all = kinds()
      return kind.rows(orgId, (name, id) => all.find((one) => one.kind === name)?.nameOf?.(orgId, id) ?? null)
    },
    write: (kinds, change) => needed(views).writeAll([...new Set(kinds.map(({ view }) => view as View<never>))], change),
    rehearse: (change) => rehearse(needed(db), change),
  }
}

function ordered(kinds: readonly PortableKind[]): PortableKind[] {
  const nodes = kinds.map((value) => ({
    value,
    name: value.kind,
    after: value.after.map((name) => kinds.findIndex(({ kind }) => kind === name)).filter((index) => index !== -1),
  }))
  return topoSort(nodes)
}

function needed<T>(store: T | undefined): T {
  if (store === undefined) throw new Error('A gateway without a database has no rows to export or import.')
  return store
}

// Marks a figure that comes from one process, where other processes may have figures of their own.
import { useGet } from '../../api/query.ts'
import { Tag } from '../status.tsx'

/** @param shared true: with Redis the figure is of all processes */
export function ThisReplica({ shared = false }: { shared?: boolean }) {
  const health = useGet('/healthz')
  if (health.data === undefined) return null
  const { database, shared_store } = health.data
  // Several processes on one SQLite file are not supported.
  if (database === 'none' || database.kind === 'sqlite') return null
  if (shared && shared_store.configured && shared_store.mode === 'redis') return null
  return (
    <Tag title="The process that answers this page has counted. Other replicas have figures of their own.">this replica only</Tag>
  )
}

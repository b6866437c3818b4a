// Failures of the listed requests, grouped by provider and status.
import { setQuery } from '../../app/location.ts'
import type { Row } from './rows.ts'

const SHOWN = 4

export function Errors({ rows }: { rows: readonly Row[] }) {
  const groups = new Map<string, { provider: string | null; status: number; count: number }>()
  for (const { provider, status } of rows) {
    if (status < 400) continue
    const key = `${provider} ${status}`
    const group = groups.get(key) ?? { provider, status, count: 0 }
    group.count++
    groups.set(key, group)
  }
  if (groups.size === 0) return null
  const most = [...groups.values()].sort((a, b) => b.count - a.count).slice(0, SHOWN)
  return (
    <p class="error-groups">
      <span class="quiet">Failed in this list: </span>
      {most.map(({ provider, status, count }) => (
        <button
          key={`${provider} ${status}`}
          type="button"
          class="button"
          onClick={() => setQuery({ filter: `status:${status}${provider === null ? '' : ` provider:${provider}`}` })}
        >
          {provider ?? 'gateway'} {status} ×{count}
        </button>
      ))}
    </p>
  )
}

// Requests that run now, above those that ended.
import { useGet } from '../../api/query.ts'
import { now } from '../../app/clock.ts'
import { bytes, ms } from '../../app/format.ts'
import { Table } from '../../ui/table.tsx'

const LOOK_MS = 1000
const SHOWN = 8

export function Running() {
  const live = useGet('/api/live', { query: { limit: SHOWN } }, LOOK_MS)
  const { data = [], total = 0 } = live.data ?? {}
  if (data.length === 0) return null
  return (
    <section class="panel running" aria-label="Running requests">
      <Table
        label={`${total} running`}
        rows={data}
        rowKey={({ request_id }) => request_id}
        columns={[
          { id: 'age', title: `${total} running`, cell: ({ started_at }) => ms(Math.max(0, now.value - Date.parse(started_at))) },
          {
            id: 'model',
            title: 'Model → upstream',
            cell: ({ model, target }) =>
              `${model} → ${target === null ? 'no upstream yet' : `${target.provider}/${target.model}`}`,
          },
          { id: 'key', title: 'Key', wide: true, cell: ({ api_key_label, source }) => api_key_label ?? source },
          { id: 'tries', title: 'Tries', numeric: true, cell: ({ tries }) => tries },
          { id: 'bytes', title: 'Received', numeric: true, wide: true, cell: ({ content_bytes }) => bytes(content_bytes) },
        ]}
      />
      {total > data.length && (
        <p class="quiet">
          The {data.length} oldest of {total} are shown.
        </p>
      )}
    </section>
  )
}

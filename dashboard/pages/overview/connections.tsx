// One line for each connection: whether it works, and since when not.
import { useGet } from '../../api/query.ts'
import { href } from '../../app/location.ts'
import { Loading, Panel } from '../../ui/page.tsx'
import { ConnectionOutlook } from '../../ui/rows/connection-status.tsx'

export function Connections() {
  const connections = useGet('/api/providers', {}, 15_000)
  return (
    <Loading of={connections}>
      {({ data }) => (
        <Panel title="Connections" actions={<a href={href('/connections')}>all</a>}>
          <ul class="connection-strip">
            {data.map((connection) => (
              <li key={connection.id}>
                <a href={href(`/connections?open=${connection.id}`)}>{`${connection.provider}/${connection.label}`}</a>{' '}
                <ConnectionOutlook connection={connection} />
              </li>
            ))}
            {data.length === 0 && <li>There is no connection yet.</li>}
          </ul>
        </Panel>
      )}
    </Loading>
  )
}

// The changes that the configuration file would make to the database, as `hookgate plan` prints them.
import { useGet } from '../../api/query.ts'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'

const TONES: Readonly<Record<string, Tone>> = {
  conflict: 'failed',
  archive: 'refused',
  create: 'ok',
  update: 'retried',
  revive: 'ok',
  adopt: 'retried',
}

export function Plan() {
  const plan = useGet('/api/config/plan')
  return (
    <Loading of={plan}>
      {({ data }) => (
        <Panel title="File and database">
          {data.length === 0 ? (
            <Empty title="In step">
              <p>The database holds what gateway.config.ts declares.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Differences"
                rows={data}
                rowKey={({ section, key }) => `${section}.${key}`}
                columns={[
                  {
                    id: 'action',
                    title: 'Apply would',
                    cell: ({ action }) => <Status tone={TONES[action] ?? 'quiet'}>{action}</Status>,
                  },
                  { id: 'row', title: 'Row', cell: ({ section, key }) => `${section}.${key}` },
                  {
                    id: 'changes',
                    title: 'Changes',
                    cell: ({ changes }) => (
                      <ul>
                        {changes.map(({ member, from, to }) => (
                          <li key={member}>
                            <code>
                              {member}: {JSON.stringify(from)} → {JSON.stringify(to)}
                            </code>
                          </li>
                        ))}
                      </ul>
                    ),
                  },
                ]}
              />
              <p class="quiet">
                <code>hookgate apply</code> makes the changes. A reload of the file does too.
              </p>
            </>
          )}
        </Panel>
      )}
    </Loading>
  )
}

// The providers that the gateway knows: their formats, whether they need a key, and where to get one.
import { useGet } from '../../api/query.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'

export function Registry() {
  const registry = useGet('/api/registry')
  const text = address.value.get('q') ?? ''
  const wanted = text.trim().toLowerCase()
  return (
    <Loading of={registry}>
      {({ data }) => {
        const found = data.filter(({ id, name, aliases }) =>
          [id, name, ...aliases].some((word) => word.toLowerCase().includes(wanted)),
        )
        return (
          <Panel title={`${count(data.length)} providers`}>
            <input
              type="search"
              class="filter-input"
              aria-label="Search providers"
              placeholder="openai, anthropic, ollama …"
              value={text}
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
            {found.length === 0 ? (
              <Empty title="No provider has this name">
                <p>Any other server with one of the four formats can be added with its address.</p>
              </Empty>
            ) : (
              <Table
                label="Providers"
                rows={found}
                rowKey={({ id }) => id}
                columns={[
                  {
                    id: 'name',
                    title: 'Provider',
                    cell: ({ id, name }) => (
                      <>
                        <strong>{name}</strong> <span class="quiet">{id}</span>
                      </>
                    ),
                  },
                  {
                    id: 'formats',
                    title: 'Formats',
                    wide: true,
                    cell: ({ wire_formats }) => wire_formats.map((one) => one.replaceAll('_', ' ')).join(', '),
                  },
                  { id: 'endpoints', title: 'Endpoints', wide: true, cell: ({ endpoints }) => endpoints.join(', ') },
                  {
                    id: 'key',
                    title: 'Key',
                    cell: ({ needs_key, docs_url }) =>
                      docs_url !== null && needs_key ? (
                        <a href={docs_url} target="_blank" rel="noopener noreferrer">
                          get one
                        </a>
                      ) : needs_key ? (
                        'needed'
                      ) : (
                        <Tag>no key</Tag>
                      ),
                  },
                  {
                    id: 'version',
                    title: 'Client version',
                    wide: true,
                    cell: ({ client_version }) => client_version ?? UNKNOWN,
                  },
                  {
                    id: 'connections',
                    title: 'Connections',
                    numeric: true,
                    wide: true,
                    cell: ({ connections }) => count(connections),
                  },
                  {
                    id: 'connect',
                    title: '',
                    cell: ({ id, name }) =>
                      may('manage') && (
                        <Button label={`Connect ${name}`} onClick={() => setQuery({ add: id }, { replace: false })}>
                          Connect
                        </Button>
                      ),
                  },
                ]}
              />
            )}
          </Panel>
        )
      }}
    </Loading>
  )
}

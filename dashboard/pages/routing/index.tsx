import { useGet } from '../../api/query.ts'
import { count, ms, percent, UNKNOWN } from '../../app/format.ts'
import { go, href } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import type { PageProps } from '../../app/pages.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Loading, Notice, Page } from '../../ui/page.tsx'
import { Owner, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { Editor } from './editor.tsx'
import { NEW, RECIPES } from './recipes.ts'

export default function Routing({ rest }: PageProps) {
  return rest === '' ? <VirtualModels /> : <VirtualModel name={rest} />
}

function VirtualModels() {
  const models = useGet('/api/virtual-models')
  const usage = useGet('/api/usage', { query: { window: '24h' } })
  const used = new Map((usage.data?.by_virtual_model ?? []).map((row) => [row.virtual_model, row]))
  return (
    <Page
      title="Routing"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => go(`/routing/${NEW}`)}>
            New virtual model
          </Button>
        )
      }
    >
      <Loading of={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No virtual model yet">
              <p>
                A virtual model is a name of your own for one or more models. The gateway selects among them for each request.
              </p>
              <div class="recipes">
                {RECIPES.map(({ id, title, about }) => (
                  <a key={id} class="recipe" href={href(`/routing/${NEW}?recipe=${id}`)}>
                    <strong>{title}</strong>
                    <span>{about}</span>
                  </a>
                ))}
              </div>
            </Empty>
          ) : (
            <section class="panel">
              <Table
                label="Virtual models"
                rows={data}
                rowKey={({ id }) => id}
                onOpen={({ name }) => go(`/routing/${encodeURIComponent(name)}`)}
                columns={[
                  { id: 'name', title: 'Name', cell: ({ name }) => <strong>{name}</strong> },
                  { id: 'strategy', title: 'Strategy', cell: ({ strategy }) => strategy.replaceAll('_', ' ') },
                  { id: 'targets', title: 'Targets', wide: true, cell: ({ targets }) => targetNames(targets) },
                  {
                    id: 'state',
                    title: 'State',
                    cell: ({ enabled }) =>
                      enabled ? <Status tone="ok">enabled</Status> : <Status tone="quiet">disabled</Status>,
                  },
                  {
                    id: 'requests',
                    title: 'Requests 24 h',
                    numeric: true,
                    cell: ({ name }) => count(used.get(name)?.requests ?? 0),
                  },
                  {
                    id: 'failed',
                    title: 'Failed',
                    numeric: true,
                    wide: true,
                    cell: ({ name }) => {
                      const row = used.get(name)
                      return row === undefined || row.requests === 0 ? UNKNOWN : percent(row.errors / row.requests)
                    },
                  },
                  { id: 'p95', title: 'p95', numeric: true, wide: true, cell: ({ name }) => ms(used.get(name)?.p95_ms) },
                  {
                    id: 'cost',
                    title: 'Spend',
                    numeric: true,
                    cell: ({ name }) => <Money usd={used.get(name)?.cost_usd ?? 0} />,
                  },
                  {
                    id: 'owner',
                    title: 'Owner',
                    wide: true,
                    cell: ({ managed_by, name }) =>
                      managed_by === 'config' ? <Owner managedBy={managed_by} name={`virtualModels.${name}`} /> : 'API',
                  },
                ]}
              />
            </section>
          )
        }
      </Loading>
    </Page>
  )
}

const SHOWN = 3

function targetNames(targets: readonly { target: string }[]): string {
  const names = targets.slice(0, SHOWN).map(({ target }) => target)
  return targets.length > SHOWN ? `${names.join(', ')} and ${targets.length - SHOWN} more` : names.join(', ')
}

function VirtualModel({ name }: { name: string }) {
  const models = useGet('/api/virtual-models')
  return (
    <Page title={name === NEW ? 'New virtual model' : name} actions={<a href={href('/routing')}>All virtual models</a>}>
      <Loading of={models}>
        {({ data }) => {
          const found = data.find((model) => model.name === name)
          if (found === undefined && name !== NEW)
            return (
              <Notice tone="warning">
                There is no virtual model “{name}”. <a href={href('/routing')}>See all</a>.
              </Notice>
            )
          return <Editor key={found?.id ?? NEW} saved={found} />
        }}
      </Loading>
    </Page>
  )
}

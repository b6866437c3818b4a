// The names that are no virtual models: GATEWAY_ROUTES and `auto`. They are read-only here.
import { useGet } from '../../api/query.ts'
import { Loading, Panel } from '../../ui/page.tsx'
import { Status, Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'

const ORDERINGS = { listed: 'as listed', cheapest: 'the cheapest first', ranked: 'by health, quota, price and latency' }

export function NamedRoutes() {
  const routes = useGet('/api/routes')
  return (
    <Panel title="Routes and auto" actions={<Tag title="Set the variable GATEWAY_ROUTES to change them.">GATEWAY_ROUTES</Tag>}>
      <Loading of={routes}>
        {({ data }) => (
          <Table
            label="Routes and auto"
            rows={data}
            rowKey={({ name, kind }) => `${kind} ${name}`}
            columns={[
              { id: 'name', title: 'Name', cell: ({ name }) => <strong>{name}</strong> },
              { id: 'order', title: 'Order', wide: true, cell: ({ ordering }) => ORDERINGS[ordering] },
              {
                id: 'targets',
                title: 'Works now with',
                cell: ({ targets, shadowed }) =>
                  shadowed ? (
                    <Status tone="quiet">a virtual model has this name and answers instead</Status>
                  ) : targets.length === 0 ? (
                    <Status tone="waiting">no model: add a connection whose models are known</Status>
                  ) : (
                    targets.join(', ')
                  ),
              },
            ]}
          />
        )}
      </Loading>
    </Panel>
  )
}

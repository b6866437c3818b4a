// The budgets: what is spent, kept back and allowed, and when the limit is reached.
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Share } from '../../ui/charts/bars.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money } from '../../ui/text.tsx'
import { type Budget, BudgetForm } from './budget-forms.tsx'
import { BudgetPeek, budgetName } from './budget-peek.tsx'

export function Budgets() {
  const budgets = useGet('/api/budgets', {}, 15_000)
  const open = Number(address.value.get('open'))
  const adding = address.value.get('add') !== null
  return (
    <Loading of={budgets}>
      {({ data, time_zone }) => {
        const shown = data.find(({ id }) => id === open)
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <AddressNote name="open" shown={shown?.id} />
            <Panel
              title="Budgets"
              actions={
                <>
                  <span class="quiet">windows in {time_zone}</span>
                  {may('manage') && (
                    <Button kind="primary" onClick={() => setQuery({ add: '1' })}>
                      New budget
                    </Button>
                  )}
                </>
              }
            >
              {data.length === 0 ? (
                <Empty title="No budget yet">
                  <p>A budget refuses requests before they are sent once its limit is reached.</p>
                </Empty>
              ) : (
                <Table
                  label="Budgets"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={open}
                  onOpen={({ id }) => setQuery({ open: id === open ? null : String(id) })}
                  columns={[
                    { id: 'scope', title: 'Of', cell: budgetName },
                    { id: 'window', title: 'Window', cell: ({ window }) => window },
                    {
                      id: 'spend',
                      title: 'Spent',
                      numeric: true,
                      wide: true,
                      cell: ({ spend_usd }) => <Money usd={spend_usd} />,
                    },
                    {
                      id: 'reserved',
                      title: 'Reserved',
                      numeric: true,
                      wide: true,
                      cell: ({ reserved_usd }) => <Money usd={reserved_usd} />,
                    },
                    {
                      id: 'limit',
                      title: 'Limit',
                      numeric: true,
                      cell: (budget) => <Limit of={budget} />,
                    },
                    {
                      id: 'used',
                      title: 'Used',
                      cell: (budget) => <Share label={`Used of ${budgetName(budget)}`} share={budget.percent_used / 100} />,
                    },
                    {
                      id: 'projected',
                      title: 'Projected',
                      numeric: true,
                      wide: true,
                      cell: (budget) => <Projection of={budget} />,
                    },
                    {
                      id: 'breaks',
                      title: 'Limit reached',
                      wide: true,
                      cell: ({ breaks_at, percent_used }) =>
                        percent_used >= 100 ? (
                          <Status tone="refused">now</Status>
                        ) : breaks_at === null ? (
                          UNKNOWN
                        ) : (
                          <Status tone="waiting">
                            <Ago at={breaks_at} />
                          </Status>
                        ),
                    },
                    {
                      id: 'resets',
                      title: 'Resets',
                      wide: true,
                      cell: ({ window_end }) => (window_end === null ? 'never' : <Ago at={window_end} />),
                    },
                  ]}
                />
              )}
            </Panel>
            {shown !== undefined && <BudgetPeek key={shown.id} of={shown} zone={time_zone} />}
            {adding && (
              <Dialog title="New budget" onClose={() => setQuery({ add: null })}>
                <BudgetForm
                  submit="Create"
                  onCancel={() => setQuery({ add: null })}
                  onSubmit={async (body) => {
                    const made = await answerOf(api.POST('/api/budgets', { body }))
                    setQuery({ add: null, open: String(made.id) })
                    await invalidate('/api/budgets')
                  }}
                />
              </Dialog>
            )}
          </div>
        )
      }}
    </Loading>
  )
}

function Projection({ of: { projected_usd, projected_exceeded } }: { of: Budget }) {
  if (projected_usd === null) return <span>{UNKNOWN}</span>
  return projected_exceeded ? (
    <Status tone="waiting">
      <Money usd={projected_usd} />
    </Status>
  ) : (
    <Money usd={projected_usd} />
  )
}

/** The limit, and the increases that hold now with the time of the first that ends. */
function Limit({ of: { hard_limit_usd, effective_limit_usd, increases } }: { of: Budget }) {
  const ends = increases
    .filter(({ active }) => active)
    .map(({ expires_at }) => expires_at)
    .sort()[0]
  if (ends === undefined) return <Money usd={effective_limit_usd} />
  return (
    <span>
      <Money usd={effective_limit_usd} />{' '}
      <span class="quiet wide">
        (<Money usd={hard_limit_usd} /> <Ago at={ends} />)
      </span>
    </span>
  )
}

import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Share } from '../../ui/bars.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, Facts, Loading, Notice, Panel, Peek } from '../../ui/page.tsx'
import { Owner, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money, Time } from '../../ui/text.tsx'
import { type Budget, BudgetForm, IncreaseForm } from './budget-forms.tsx'

export function budgetName({ scope, entity_label, entity_id }: Budget): string {
  return scope === 'org' ? 'organization' : `${scope.replaceAll('_', ' ')} ${entity_label ?? entity_id ?? ''}`
}

export function Budgets() {
  const budgets = useGet('/api/budgets', {}, 15_000)
  const open = Number(address.value.get('open'))
  const adding = address.value.get('add') !== null
  return (
    <Loading of={budgets}>
      {({ data }) => {
        const shown = data.find(({ id }) => id === open)
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <AddressNote name="open" shown={shown?.id} />
            <Panel
              title="Budgets"
              actions={
                may('manage') && (
                  <Button kind="primary" onClick={() => setQuery({ add: '1' })}>
                    New budget
                  </Button>
                )
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
                    { id: 'spend', title: 'Spent', numeric: true, cell: ({ spend_usd }) => <Money usd={spend_usd} /> },
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
                      cell: ({ effective_limit_usd }) => <Money usd={effective_limit_usd} />,
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
                      id: 'resets',
                      title: 'Resets',
                      wide: true,
                      cell: ({ window_end }) => (window_end === null ? 'never' : <Ago at={window_end} />),
                    },
                  ]}
                />
              )}
            </Panel>
            {shown !== undefined && <BudgetPeek key={shown.id} of={shown} />}
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

function BudgetPeek({ of: budget }: { of: Budget }) {
  const mode = address.value.get('do')
  const params = { path: { id: String(budget.id) } } as never
  const locked = budget.managed_by === 'config'
  const done = async (): Promise<void> => {
    setQuery({ do: null })
    await invalidate('/api/budgets')
  }
  const remove = async (): Promise<void> => {
    if (!confirm('Delete this budget? Nothing then limits this spend.')) return
    await answerOf(api.DELETE('/api/budgets/{id}', { params }))
    setQuery({ open: null })
    await invalidate('/api/budgets')
  }
  return (
    <Peek title={budgetName(budget)} onClose={() => setQuery({ open: null, do: null })}>
      <Owner managedBy={budget.managed_by} />
      {budget.projected_exceeded && (
        <Notice tone="warning">
          At this pace the limit is reached before the window ends: <Money usd={budget.projected_usd} />.
        </Notice>
      )}
      <Facts
        facts={[
          ['Spent', <Money key="spent" usd={budget.spend_usd} />],
          ['Reserved by running requests', <Money key="reserved" usd={budget.reserved_usd} />],
          ['Left', <Money key="left" usd={budget.remaining_usd} />],
          ['Limit', <Money key="limit" usd={budget.hard_limit_usd} />],
          ['Limit with increases', <Money key="effective" usd={budget.effective_limit_usd} />],
          ['Window began', <Time key="start" at={budget.window_start} />],
          ['Window ends', <Time key="end" at={budget.window_end} />],
          ['Enabled', budget.enabled ? 'yes' : 'no'],
        ]}
      />
      {budget.increases.length > 0 && (
        <Table
          label="Increases"
          rows={budget.increases}
          rowKey={({ id }) => id}
          columns={[
            { id: 'amount', title: 'Increase', cell: ({ amount_usd }) => <Money usd={amount_usd} /> },
            { id: 'until', title: 'Until', cell: ({ expires_at }) => <Time at={expires_at} /> },
            { id: 'by', title: 'By', cell: ({ created_by }) => created_by },
            { id: 'reason', title: 'Reason', wide: true, cell: ({ reason }) => reason ?? UNKNOWN },
            {
              id: 'state',
              title: 'State',
              cell: ({ active }) => (active ? <Status tone="ok">active</Status> : <Status tone="quiet">over</Status>),
            },
          ]}
        />
      )}
      {mode === 'increase' && (
        <IncreaseForm
          onCancel={() => setQuery({ do: null })}
          onSubmit={async (body) => {
            await answerOf(api.POST('/api/budgets/{id}/increase', { params, body }))
            await done()
          }}
        />
      )}
      {mode === 'edit' && !locked && (
        <BudgetForm
          of={budget}
          submit="Save"
          onCancel={() => setQuery({ do: null })}
          onSubmit={async ({ window, hard_limit_usd, enabled }) => {
            await answerOf(api.PUT('/api/budgets/{id}', { params, body: { window, hard_limit_usd, enabled } }))
            await done()
          }}
        />
      )}
      {may('manage') && (
        <div class="actions">
          <Button onClick={() => setQuery({ do: 'increase' })}>Raise for a time</Button>
          {!locked && <Button onClick={() => setQuery({ do: 'edit' })}>Edit</Button>}
          {!locked && (
            <Button kind="danger" onClick={remove}>
              Delete
            </Button>
          )}
        </div>
      )}
    </Peek>
  )
}

// One budget: its course, its figures, its increases and the levers.
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import { percent, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Facts, Notice, Peek } from '../../ui/page.tsx'
import { Owner, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money, Time } from '../../ui/text.tsx'
import { BudgetChart } from './budget-chart.tsx'
import { type Budget, BudgetForm, IncreaseForm } from './budget-forms.tsx'

export function budgetName({ scope, entity_label, entity_id }: Budget): string {
  return scope === 'org' ? 'organization' : `${scope.replaceAll('_', ' ')} ${entity_label ?? entity_id ?? ''}`
}

export function BudgetPeek({ of: budget, zone }: { of: Budget; zone: string }) {
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
      <Owner managedBy={budget.managed_by} name={`budgets.${budget.config_key}`} />
      {budget.warning !== undefined && <Notice tone="warning">{budget.warning.message}</Notice>}
      <BudgetChart of={budget} zone={zone} />
      {budget.projected_exceeded && (
        <Notice tone="warning">
          At this pace the limit is reached
          {budget.breaks_at === null ? (
            ' before the window ends'
          ) : (
            <>
              {' '}
              on <Time at={budget.breaks_at} /> (<Ago at={budget.breaks_at} />)
            </>
          )}
          : <Money usd={budget.projected_usd} /> at the end of the window.
        </Notice>
      )}
      <Facts
        facts={[
          ['Spent', <Money key="spent" usd={budget.spend_usd} />],
          ['Reserved by running requests', <Money key="reserved" usd={budget.reserved_usd} />],
          ['Left', <Money key="left" usd={budget.remaining_usd} />],
          ['Limit', <Money key="limit" usd={budget.hard_limit_usd} />],
          ['Limit with increases', <Money key="effective" usd={budget.effective_limit_usd} />],
          ['Used', percent(budget.percent_used / 100)],
          ['Projected', <Money key="projected" usd={budget.projected_usd} />],
          ['Window', `${budget.window}, in ${zone}`],
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

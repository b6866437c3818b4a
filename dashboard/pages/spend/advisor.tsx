// The advisor: what would cost less or fail less, what was changed on its advice and how that went, and the digest of a week.
import { type Got, useGet } from '../../api/query.ts'
import { count, percent } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Figures } from '../../ui/charts/figures.tsx'
import { Part } from '../../ui/charts/part.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Status, Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money } from '../../ui/text.tsx'
import { ActionPeek, ActionState, subjectOf } from './advisor-action.tsx'
import { kindName, RecommendationPeek, Saving } from './advisor-recommendation.tsx'
import { Digest } from './digest.tsx'

type Advice = Got<'/api/advisor'>
type Month = NonNullable<Advice['monthly_budget']>

const LOOK_MS = 60_000

export function Advisor() {
  const advice = useGet('/api/advisor', {}, LOOK_MS)
  const applied = useGet('/api/advisor/applied', {}, LOOK_MS)
  const open = address.value.get('open')
  const action = address.value.get('action')
  const shown = advice.data?.data.find(({ id }) => id === open)
  const shownAction = applied.data?.data.find(({ id }) => String(id) === action)
  const peeks = shown !== undefined || shownAction !== undefined
  return (
    <>
      {advice.data !== undefined && <AddressNote name="open" shown={shown?.id} />}
      {applied.data !== undefined && <AddressNote name="action" shown={shownAction?.id} />}
      <div class={peeks ? 'with-peek open' : 'with-peek'}>
        <div>
          <Loading of={advice}>
            {(data) => (
              <>
                {data.monthly_budget !== null && <MonthPlan of={data.monthly_budget} />}
                <Recommendations of={data} open={open} />
              </>
            )}
          </Loading>
          <Loading of={applied}>{({ data }) => <Actions of={data} open={action} />}</Loading>
        </div>
        {shown !== undefined ? (
          <RecommendationPeek key={shown.id} of={shown} />
        ) : (
          shownAction !== undefined && <ActionPeek key={shownAction.id} of={shownAction} />
        )}
      </div>
      <Digest />
    </>
  )
}

function MonthPlan({ of: { limit_usd, spend_usd, projected_usd, status } }: { of: Month }) {
  return (
    <Panel
      title="This month against the plan"
      actions={
        status === 'ok' ? (
          <Status tone="ok">within the plan</Status>
        ) : (
          <Status tone={status === 'over' ? 'failed' : 'waiting'}>{status === 'over' ? 'over the plan' : 'at risk'}</Status>
        )
      }
    >
      <Figures
        of={[
          ['Spent', <Money key="spent" usd={spend_usd} />],
          ['At its end', <Money key="end" usd={projected_usd} />, 'at the same pace'],
          ['Planned', <Money key="plan" usd={limit_usd} />, 'GATEWAY_MONTHLY_BUDGET_USD'],
        ]}
      />
    </Panel>
  )
}

function Recommendations({ of: { data, generated_at, window_days }, open }: { of: Advice; open: string | null }) {
  return (
    <Panel
      title="Recommendations"
      actions={
        <span class="quiet">
          from the last {count(window_days)} days, computed <Ago at={generated_at} />
        </span>
      }
    >
      {data.length === 0 ? (
        <Empty title="Nothing to recommend">
          <p>
            The advisor reads the usage of {count(window_days)} days. It speaks up when a change would save money or failures.
          </p>
        </Empty>
      ) : (
        <Table
          label="Recommendations"
          rows={data}
          rowKey={({ id }) => id}
          selected={open}
          onOpen={({ id }) => setQuery({ open: id === open ? null : id, action: null })}
          columns={[
            { id: 'title', title: 'Change', cell: ({ title }) => title },
            { id: 'kind', title: 'Kind', wide: true, cell: ({ kind }) => kindName(kind) },
            { id: 'saving', title: 'Saves in 30 days', numeric: true, cell: (one) => <Saving usd={one.est_monthly_usd} /> },
            {
              id: 'confidence',
              title: 'Confidence',
              wide: true,
              cell: ({ title, confidence }) => <Part label={`Confidence of ${title}`} of={confidence} />,
            },
            {
              id: 'apply',
              title: 'Applies',
              wide: true,
              cell: ({ apply_action }) => (apply_action === null ? <Tag>by hand</Tag> : 'from here'),
            },
          ]}
        />
      )}
    </Panel>
  )
}

type Applied = Got<'/api/advisor/applied'>['data'][number]

function Actions({ of: data, open }: { of: readonly Applied[]; open: string | null }) {
  if (data.length === 0) return null
  return (
    <Panel title="Applied">
      <Table
        label="Applied"
        rows={data}
        rowKey={({ id }) => id}
        selected={open === null ? null : Number(open)}
        onOpen={({ id }) => setQuery({ action: String(id) === open ? null : String(id), open: null })}
        columns={[
          { id: 'of', title: 'Of', cell: subjectOf },
          { id: 'kind', title: 'Kind', wide: true, cell: ({ kind }) => kindName(kind) },
          { id: 'state', title: 'State', cell: (action) => <ActionState of={action} /> },
          {
            id: 'errors',
            title: 'Failed before',
            numeric: true,
            wide: true,
            cell: ({ baseline }) => percent(baseline.error_rate),
          },
          {
            id: 'since',
            title: 'since',
            numeric: true,
            wide: true,
            cell: ({ since }) => percent(since === null || since.requests === 0 ? null : since.error_rate),
          },
          { id: 'at', title: 'Applied', wide: true, cell: ({ applied_at }) => <Ago at={applied_at} /> },
        ]}
      />
    </Panel>
  )
}

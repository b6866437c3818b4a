// A change that was made on the advisor's advice: its state, the figures before and since, and the two ways to end the probation.
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate } from '../../api/query.ts'
import { count, ms, percent, UNKNOWN } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Facts, Notice, Peek } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Money, Time } from '../../ui/text.tsx'
import { kindName, Targets } from './advisor-recommendation.tsx'

type Applied = Got<'/api/advisor/applied'>['data'][number]

const REASONS: Record<NonNullable<Applied['rollback_reason']>, string> = {
  manual: 'by hand',
  error_rate: 'more requests failed',
  latency: 'requests took longer',
  cost: 'requests cost more',
  quality: 'answers were worse',
}

export function subjectOf({ action: { params } }: Pick<Applied, 'action'>): string {
  return String(params.name ?? params.key ?? UNKNOWN)
}

export function ActionState({ of: { state, rollback_reason, probation_active, probation_until } }: { of: Applied }) {
  if (state === 'confirmed') return <Status tone="ok">confirmed</Status>
  if (state === 'rolled_back')
    return (
      <Status tone={rollback_reason === 'manual' ? 'quiet' : 'refused'}>
        taken back{rollback_reason !== null && `: ${REASONS[rollback_reason]}`}
      </Status>
    )
  if (!probation_active) return <Status tone="retried">not confirmed yet</Status>
  return (
    <>
      <Status tone="waiting">on probation</Status>{' '}
      <span class="quiet">
        ends <Ago at={probation_until} />
      </span>
    </>
  )
}

export function ActionPeek({ of: action }: { of: Applied }) {
  const { id, kind, state, before, after, baseline, since, applied_at, probation_until } = action
  const subject = subjectOf(action)
  const params = { path: { id: String(id) } } as never
  const end = async (how: 'confirm' | 'rollback'): Promise<void> => {
    await answerOf(
      how === 'confirm' ? api.POST('/api/advisor/confirm/{id}', { params }) : api.POST('/api/advisor/rollback/{id}', { params }),
    )
    await invalidate('/api/advisor', '/api/virtual-models', '/api/settings')
  }
  const confirmed = (): Promise<void> | undefined =>
    confirm(`Keep the change of ${subject}? The watch ends.`) ? end('confirm') : undefined
  const takenBack = (): Promise<void> | undefined =>
    confirm(`Restore ${subject} as it was before?`) ? end('rollback') : undefined
  return (
    <Peek title={`${kindName(kind)}: ${subject}`} onClose={() => setQuery({ action: null })}>
      <Facts
        facts={[
          ['State', <ActionState key="state" of={action} />],
          ['Applied', <Time key="at" at={applied_at} />],
          ['Probation until', <Time key="until" at={probation_until} />],
        ]}
      />
      {state === 'applied' && (
        <Notice>
          The gateway looks once a minute, and takes the change back when 20 requests or more went worse than before. Without a
          confirmation it looks for 14 days, and the change stays.
        </Notice>
      )}
      <Table
        label="Before and since"
        rows={[
          { name: '14 days before', figures: baseline },
          ...(since === null ? [] : [{ name: 'since the change', figures: since }]),
        ]}
        rowKey={({ name }) => name}
        columns={[
          { id: 'when', title: '', cell: ({ name }) => name },
          { id: 'requests', title: 'Requests', numeric: true, cell: ({ figures }) => count(figures.requests) },
          {
            id: 'errors',
            title: 'Failed',
            numeric: true,
            cell: ({ figures }) => percent(figures.requests === 0 ? null : figures.error_rate),
          },
          { id: 'p95', title: 'p95', numeric: true, cell: ({ figures }) => ms(figures.p95_ms) },
          { id: 'cost', title: 'Cost of one', numeric: true, cell: ({ figures }) => <Money usd={figures.cost_per_request} /> },
        ]}
      />
      <div class="columns">
        <section>
          <h3>Before</h3>
          <Side of={before} />
        </section>
        <section>
          <h3>After</h3>
          <Side of={after} />
        </section>
      </div>
      {state === 'applied' && may('manage') && (
        <div class="actions">
          <Button kind="primary" onClick={confirmed}>
            Confirm
          </Button>
          <Button kind="danger" onClick={takenBack}>
            Roll back
          </Button>
        </div>
      )}
      {action.action.type === 'update_virtual_model' ? (
        <a href={href(`/requests?filter=${encodeURIComponent(`vm:${subject}`)}`)}>Requests to {subject}</a>
      ) : (
        <a href={href(`/system?tab=settings&q=${encodeURIComponent(subject)}`)}>The setting</a>
      )}
    </Peek>
  )
}

/** The targets of a virtual model, or a setting with its stored value. */
function Side({ of: side }: { of: Readonly<Record<string, unknown>> }) {
  if (Array.isArray(side.targets)) return <Targets of={side.targets} />
  return (
    <ul class="stack-tight">
      {Object.entries(side).map(([key, value]) => (
        <li key={key}>{value === null ? 'inherited value' : <code>{JSON.stringify(value)}</code>}</li>
      ))}
    </ul>
  )
}

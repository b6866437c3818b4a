// The budget over a key that leaves the least, whoever it belongs to.
import { type Got, useGet } from '../../api/query.ts'
import { percent, UNKNOWN } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Share } from '../../ui/charts/bars.tsx'
import { Ago, Money } from '../../ui/text.tsx'
import type { Key } from './key-form.tsx'

type Budget = Got<'/api/budgets'>['data'][number]

export function tightestOf(key: Key, budgets: readonly Budget[]): Budget | undefined {
  return budgets
    .filter(({ scope, entity_id, enabled }) => enabled && (scope === 'org' || (scope === 'key' && entity_id === key.id)))
    .sort((a, b) => a.remaining_usd - b.remaining_usd)[0]
}

const ownerOf = ({ scope }: Budget): string => (scope === 'org' ? 'the organization' : 'this key')

export function TightestCell({ of: budget }: { of: Budget | undefined }) {
  if (budget === undefined) return <span>{UNKNOWN}</span>
  return (
    <Share label={`Used of the budget of ${ownerOf(budget)}`} share={budget.percent_used / 100}>
      <Money usd={budget.remaining_usd} /> left <span class="quiet">of {ownerOf(budget)}</span>
    </Share>
  )
}

export function Tightest({ of: key }: { of: Key }) {
  const budgets = useGet('/api/budgets')
  if (budgets.data === undefined) return <span>{UNKNOWN}</span>
  const budget = tightestOf(key, budgets.data.data)
  if (budget === undefined) return <span>none applies</span>
  const { id, window, window_end, remaining_usd, effective_limit_usd, percent_used } = budget
  return (
    <span>
      <Money usd={remaining_usd} /> left of <Money usd={effective_limit_usd} />, {window}, {percent(percent_used / 100)} used:{' '}
      <a href={href(`/spend?tab=budgets&open=${id}`)}>budget of {ownerOf(budget)}</a>
      {window_end !== null && (
        <span class="quiet">
          , resets <Ago at={window_end} /> ({budgets.data.time_zone})
        </span>
      )}
    </span>
  )
}

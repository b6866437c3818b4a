// Facts about budgets that need attention: at the limit, over 95 %, over 85 %, and projected over it.
import type { AttentionFacts, AttentionItem, AttentionLever } from '../../core/types/attention.ts'
import { type StatusSources, statusOf } from './api/status.ts'
import type { Budget } from './service.ts'

const DAY_MS = 86_400_000
/** A suggested increase ends with the window, or after this time. */
const INCREASE_MS = 7 * DAY_MS
/** A suggested increase, as a part of the hard limit. */
const INCREASE_PART = 0.1

type Status = Awaited<ReturnType<typeof statusOf>>[number]

/** @param maxIncreaseDays longest increase; 0 = unlimited. */
export function budgetFacts(
  list: (orgId: number | null) => readonly Budget[],
  sources: StatusSources,
  maxIncreaseDays: number,
): AttentionFacts {
  return async ({ orgId }) => {
    // A limit of 0 blocks on purpose.
    const enabled = list(orgId).filter(({ enabled, hardLimitNano }) => enabled && hardLimitNano > 0)
    const shown = await statusOf(enabled, sources)
    const longest = maxIncreaseDays === 0 ? INCREASE_MS : Math.min(INCREASE_MS, maxIncreaseDays * DAY_MS)
    return shown.flatMap((status) => budgetFact(status, sources.clock.now(), longest))
  }
}

function budgetFact(status: Status, now: number, longest: number): AttentionItem[] {
  const { percent_used: percent, spend_usd, effective_limit_usd, window_end, projected_usd } = status
  const label = labelOf(status)
  const spent = `${money(spend_usd)} of ${money(effective_limit_usd)}`
  const fact = {
    subject: { kind: 'budget', id: String(status.id), label },
    // The moment is not recorded, and the begin of the window is not it.
    since: null,
    levers: [raise(status, now, longest)],
    link: `/spend?tab=budgets&open=${status.id}`,
  }
  const resets = window_end === null ? '' : ` until ${window_end}`
  if (percent >= 100)
    return [
      {
        ...fact,
        kind: 'budget_at_limit',
        severity: 'critical',
        title: `The ${status.window} budget of ${label} is used up: ${spent}.`,
        effect: `Its requests are refused with 402${resets}.`,
      },
    ]
  const over = percent >= 95 ? 95 : percent >= 85 ? 85 : null
  if (over !== null)
    return [
      {
        ...fact,
        kind: over === 95 ? 'budget_over_95' : 'budget_over_85',
        severity: 'warning',
        title: `The ${status.window} budget of ${label} is over ${over} %: ${spent}.`,
        effect: `At the limit its requests are refused with 402${resets}.`,
      },
    ]
  if (!status.projected_exceeded || projected_usd === null) return []
  return [
    {
      ...fact,
      kind: 'budget_projected',
      severity: 'warning',
      title: `The ${status.window} budget of ${label} will not last: ${money(projected_usd ?? 0)} projected, ${money(effective_limit_usd)} allowed.`,
      effect: `At the limit its requests are refused with 402${resets}.`,
    },
  ]
}

function raise({ id, hard_limit_usd, window_end }: Status, now: number, longest: number): AttentionLever {
  const ends = Math.min(window_end === null ? Number.POSITIVE_INFINITY : Date.parse(window_end), now + longest)
  const body = { amount_usd: Math.max(0.01, hard_limit_usd * INCREASE_PART), expires_at: new Date(ends).toISOString() }
  return { label: `Raise it by ${INCREASE_PART * 100} %`, method: 'POST', path: `/api/budgets/${id}/increase`, body }
}

function labelOf({ scope, entity_label, entity_id }: Status): string {
  if (scope === 'org') return 'the organization'
  return `${scope === 'key' ? 'key' : 'virtual model'} ${entity_label ?? entity_id}`
}

/** At least cents, and four significant digits below a dollar. */
function money(usd: number): string {
  if (usd >= 1 || usd === 0) return `$${usd.toFixed(2)}`
  const precise = usd.toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: false })
  return `$${(precise.split('.')[1]?.length ?? 0) < 2 ? usd.toFixed(2) : precise}`
}

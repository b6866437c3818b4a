// The fact that the watch took a change back, because requests went worse than before.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { type Reason, takenBackSince } from './actions/store.ts'

const SHOWN_MS = 86_400_000

const EFFECTS: Record<Reason, string> = {
  manual: '',
  error_rate: 'More requests failed than before.',
  latency: 'Requests took longer than before.',
  cost: 'Requests cost more than before.',
  quality: 'The preferred model answered worse than the one before.',
}

export function takenBackFacts(db: Db, clock: Clock): AttentionFacts {
  return async ({ orgId }) =>
    (await takenBackSince(db, orgId, clock.now() - SHOWN_MS)).map(({ id, action, rollbackReason, endedAt }) => {
      const label = action.type === 'set_setting' ? action.params.key : action.params.name
      return {
        kind: 'advice_taken_back',
        severity: 'warning' as const,
        subject: { kind: 'advisor_action', id: String(id), label },
        title: `A change of ${label} on the advisor’s advice was taken back.`,
        since: endedAt,
        effect: EFFECTS[rollbackReason ?? 'manual'],
        levers: [],
        link: `/spend?tab=advisor&action=${id}`,
      }
    })
}

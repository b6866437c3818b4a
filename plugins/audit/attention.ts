// The fact that the newest part of the audit chain is broken. `GET /api/audit/verify` checks all of it.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { brokenTail } from './verify.ts'

/** Administrative actions are rare, and hashes cost time. */
const CHECKED_MS = 60_000

export function chainFacts(db: Db, clock: Clock): AttentionFacts {
  let checked: { at: number; bad: number | null } | null = null
  return async ({ system }) => {
    if (!system) return []
    if (checked === null || clock.monotonic() - checked.at >= CHECKED_MS)
      checked = { at: clock.monotonic(), bad: await brokenTail(db) }
    if (checked.bad === null) return []
    return [
      {
        kind: 'audit_broken',
        severity: 'critical',
        subject: { kind: 'audit', id: 'chain', label: 'audit log' },
        title: `The audit log is broken at entry ${checked.bad}: it was altered, added, or is missing.`,
        since: null,
        effect: 'Entries from there on prove nothing.',
        levers: [],
        link: '/system?tab=audit',
      },
    ]
  }
}

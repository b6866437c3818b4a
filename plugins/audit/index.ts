// Keeps the audit log: a hash chain of all administrative actions, so that changes are detected.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { AuditEntry } from '../../core/services.ts'
import { auditRoutes } from './api.ts'
import { chainFacts } from './attention.ts'
import type { Entry } from './chain.ts'
import { bridge, SUBSCRIPTIONS } from './events.ts'
import { migrations } from './migrations.ts'
import { columnText, redactedDetails } from './redact.ts'
import { pruneOldest } from './store.ts'
import { chainWriter } from './writer.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Entries per transaction; writers wait for it. */
const PRUNED_AT_ONCE = 2000

export const audit = definePlugin({
  name: 'audit',
  config: z.strictObject({
    /** Exported entries older than this, days, are deleted; 0 or null = kept. */
    retentionDays: z.int().min(0).nullable().default(null),
  }),
  variables: {
    AUDIT_RETENTION_DAYS: {
      option: 'retentionDays',
      about: 'Days for which audit entries are kept. Only entries with an acknowledged export are pruned.',
    },
  },
  migrations,
  events: SUBSCRIPTIONS,
  setup(gateway, { retentionDays }) {
    const { db, clock, events } = gateway
    const write = chainWriter(db, gateway.detached)
    gateway.provide('audit', {
      append: async (entry) => bridge(events, await write(entryOf(entry, clock.now()))),
    })
    auditRoutes(gateway)
    const silence = gateway.use('attention').contribute('audit', chainFacts(db, clock))
    if (!retentionDays) return silence
    gateway.every(
      'retention',
      HOUR_MS,
      async (signal) => {
        const cutoff = clock.now() - retentionDays * DAY_MS
        let total = 0
        for (let gone = 1; gone > 0 && !signal.aborted; total += gone) gone = await pruneOldest(db, cutoff, PRUNED_AT_ONCE)
        if (total > 0) gateway.log.info('audit.pruned', { entries: total })
      },
      { once: true },
    )
    return silence
  },
})

function entryOf({ orgId, actor, action, target, details, ip }: AuditEntry, now: number): Entry {
  return {
    org_id: orgId ?? 0,
    at: now,
    actor: columnText(actor, 200),
    action: columnText(action, 100),
    target: target === null ? null : columnText(target, 500),
    details: redactedDetails(details),
    ip: ip === null ? null : columnText(ip, 64),
  }
}

export default audit

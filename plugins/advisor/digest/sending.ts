// Sends the digest of the last week, once per organization over all replicas and restarts: the row of the week is written in the
// transaction that queues the event.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Calendar } from '../../../core/timing/calendar.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { shownRecommendation } from '../api.ts'
import type { Advisor } from '../recommend.ts'
import { type Digest, digestOf } from './digest.ts'
import { letterOf } from './letter.ts'
import { lastWeek } from './week.ts'

const DAY_MS = 86_400_000
/** Requests of the last minutes of a week are settled by then. */
const AFTER_MS = 5 * 60_000
/** A week that was missed while the gateway was down is sent until then. */
const LATE_MS = 7 * DAY_MS
const KEPT_MS = 60 * DAY_MS

const sent = z.object({ org_id: z.number().int() })

export async function sendDigests(gateway: PluginGateway, advisor: Advisor, calendar: Calendar): Promise<void> {
  const { db, clock } = gateway
  const now = clock.now()
  const week = lastWeek(calendar, now)
  if (now < week.end + AFTER_MS || now >= week.end + LATE_MS) return
  const done = await db.all(sql`SELECT org_id FROM advisor_digests WHERE week_start = ${week.start}`, sent)
  const known = new Set(done.map(({ org_id }) => org_id))
  const organizations = gateway.optional('organizations')()?.all() ?? []
  for (const orgId of [null, ...organizations.map(({ id }) => id)]) {
    if (known.has(orgId ?? 0)) continue
    const digest = await digestOf(gateway, advisor, orgId, week)
    const isFirst = await db.tx(async (tx) => {
      const { changes } = await tx.run(
        sql`INSERT INTO advisor_digests (org_id, week_start) VALUES (${orgId ?? 0}, ${week.start}) ON CONFLICT DO NOTHING`,
      )
      // A week without requests sends nothing.
      if (changes === 0 || digest.requests === 0) return false
      const event = { type: 'report.weekly_digest', orgId, data: eventData(digest), occurredAt: now }
      for (const statement of gateway.optional('outbox')()?.statements(event) ?? []) await tx.run(statement.sql)
      return true
    })
    if (isFirst) await mailed(gateway, orgId, digest, calendar.zone)
  }
  await db.run(sql`DELETE FROM advisor_digests WHERE week_start < ${now - KEPT_MS}`)
}

function eventData(digest: Digest): Record<string, unknown> {
  return {
    period_start: digest.periodStart,
    period_end: digest.periodEnd,
    total_usd_saved: digest.usdSaved,
    total_tokens_saved: digest.tokensSaved,
    top_opportunities: digest.opportunities.map((one) => {
      const { title, est_monthly_usd, confidence, kind, apply_action, apply_hint } = shownRecommendation(one)
      return { title, est_monthly_usd, confidence, kind, apply_action, apply_hint }
    }),
    headline: digest.headline,
  }
}

/** To the owners and administrators of an organization, where mail is configured. */
async function mailed(gateway: PluginGateway, orgId: number | null, digest: Digest, zone: string): Promise<void> {
  const mail = gateway.optional('mail')()
  const organizations = gateway.optional('organizations')()
  if (orgId === null || mail === undefined || !mail.delivers || organizations === undefined) return
  const letter = letterOf(digest, zone)
  for (const { userId, role } of organizations.members(orgId)) {
    const user = role === 'member' ? undefined : organizations.user(userId)
    if (user === undefined || user.disabled || !user.emailVerified) continue
    await mail.send({ to: user.email, orgId, kind: 'digest', ...letter })
  }
}

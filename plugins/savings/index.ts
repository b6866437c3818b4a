// The savings ledger: an append-only receipt for each way in which a request cost less. It is booked in the commit of the usage row, and
// chained by hashes per organization.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { rootOf } from '../../core/records/root-request.ts'
import { calendarOf } from '../../core/timing/calendar.ts'
import { savingsRoutes } from './api.ts'
import { receiptsOf } from './booking.ts'
import { migrations } from './migrations.ts'
import { moneyOf } from './money.ts'
import type { Claim } from './service.ts'
import { checkedClaim } from './sources/claimed.ts'
import { statementRoute } from './statement/route.ts'
import { chainPending, chains, insertReceipt, pruneOldest, unchained } from './store.ts'
import { savedIn, savedOf } from './sums.ts'

const CHAIN_MS = 10_000
const RETENTION_MS = 3_600_000
const DAY_MS = 86_400_000
/** Receipts per transaction; writers of the chain wait for it. */
const PRUNED_AT_ONCE = 1000

/** Provides the service `savings`. */
export const savings = definePlugin({
  name: 'savings',
  requires: ['ledger'],
  config: z.strictObject({
    /** Older receipts are deleted; 0 and below keep them. */
    usageRetentionDays: z.int().default(30).meta({ env: 'USAGE_RETENTION_DAYS' }),
    /** IANA zone of the months of statements. */
    timezone: z.string().default('UTC').meta({ env: 'BUDGET_TIMEZONE' }),
  }),
  migrations,
  setup(gateway, { usageRetentionDays, timezone }) {
    const { db, clock } = gateway
    const money = moneyOf(gateway)
    const claims = gateway.slot<Map<string, Claim>>()

    gateway.provide('savings', {
      claim(ctx, claim) {
        const checked = checkedClaim(claim)
        const root = rootOf(ctx)
        const known = claims.get(root)
        if (known === undefined) claims.set(root, new Map([[checked.source, checked]]))
        else known.set(checked.source, checked)
      },
      total: async (filter) => (await savedIn(db, filter)).usdSavedNano,
      sum: (filter) => savedIn(db, filter),
      totalsOf: (filter, by, groups) => savedOf(db, filter, by, groups),
    })

    gateway.hook(
      'settle',
      (ctx, outcome, unit) => {
        for (const receipt of receiptsOf(money, ctx, outcome, claims.get(ctx))) unit.add(insertReceipt(receipt))
      },
      // A failure here does not affect the booking of the request's cost.
      { onError: 'open' },
    )

    gateway.every('chain', CHAIN_MS, async (signal) => {
      for (const orgId of await unchained(db)) if (!signal.aborted) await chainPending(db, orgId, signal)
    })
    savingsRoutes(gateway)
    statementRoute(gateway, calendarOf(timezone), usageRetentionDays)
    if (usageRetentionDays <= 0) return
    gateway.every(
      'retention',
      RETENTION_MS,
      async (signal) => {
        const cutoff = clock.now() - usageRetentionDays * DAY_MS
        for (const orgId of await chains(db)) {
          let gone = PRUNED_AT_ONCE
          while (gone === PRUNED_AT_ONCE && !signal.aborted) gone = await pruneOldest(db, orgId, cutoff, PRUNED_AT_ONCE)
        }
      },
      { once: true },
    )
  },
})

export default savings

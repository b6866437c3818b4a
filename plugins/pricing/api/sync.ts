// POST /api/pricing/sync, and price changes that need a review. Rate cards belong to the whole gateway.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { idParams } from '../../../core/http/schemas.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import { isUnit, usdOf } from '../cards/price-names.ts'
import { percentMoved } from '../decimal.ts'
import { type DriftRow, drifts, type RunRow, reviewDrift, runOf, type Stored } from '../store.ts'
import { instant } from './resolve.ts'

const runRecord = z.strictObject({
  id: z.int().nullable().describe('Prices of this run are `primary:<id>` or `fallback:<id>` on usage rows.'),
  status: z
    .enum(['ok', 'unchanged', 'failed', 'disabled'])
    .describe('`disabled`: PRICING_SYNC_ENABLED is false, nothing was fetched.'),
  source: z.enum(['primary', 'fallback']).nullable(),
  ref: z.string().nullable(),
  models: z.int(),
  changed: z.int().describe('Prices that are others now.'),
  drifted: z.int().describe('Those that moved by more than PRICING_SYNC_DRIFT_PCT.'),
  refused: z.int().describe('Prices that cannot be: negative, or beyond all reason.'),
  error: z.string().nullable().describe('Of each source that failed.'),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
})

const driftRecord = z.strictObject({
  id: z.int(),
  provider: z.string(),
  model: z.string(),
  field: z.string(),
  old: z.number(),
  new: z.number(),
  unit: z.enum(['usd_per_1m_tokens', 'usd']),
  pct: z.number(),
  run_id: z.int(),
  detected_at: z.string(),
  reviewed_at: z.string().nullable(),
  reviewed_by: z.string().nullable(),
})

/** @param sync null: fetching is disabled. */
export function syncRoutes(gateway: PluginGateway, view: View<Stored>, sync: (() => Promise<RunRow | null>) | null): void {
  gateway.api({
    method: 'POST',
    path: '/api/pricing/sync',
    summary: 'Fetches the rate card now; answers when it is done.',
    role: 'system',
    response: runRecord,
    audit: 'pricing.sync',
    async handler({ audited }) {
      if (sync === null) return DISABLED
      const run = await sync()
      if (run === null) throw conflict('A sync is running in another process; look again when it is done.', 'sync_running')
      audited(run.id, { status: run.status, changed: run.changed, drifted: run.drifted })
      return runRecordOf(run)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/pricing/runs/:id',
    summary: 'One fetch of the rate card: where the prices `primary:<id>` and `fallback:<id>` of usage rows come from.',
    role: 'system',
    params: idParams,
    response: runRecord,
    async handler({ params: { id } }) {
      const run = await runOf(gateway.db, id)
      if (run === undefined) throw notFound(`There is no price sync ${id}.`)
      return runRecordOf(run)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/pricing/drift',
    summary: 'Prices that moved further than expected, newest first.',
    role: 'system',
    query: z.strictObject({
      reviewed: z.enum(['true', 'false']).default('false').describe('`true`: reviewed changes.'),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
        .transform(Number)
        .optional()
        .describe('`next_cursor` of the page before.'),
      limit: z.coerce.number('must be a whole number').int('must be a whole number').min(1).max(200).default(50),
    }),
    response: z.strictObject({ data: z.array(driftRecord), next_cursor: z.string().nullable() }),
    async handler({ query: { reviewed, cursor, limit } }) {
      const rows = await drifts(gateway.db, { reviewed: reviewed === 'true', before: cursor ?? null, limit: limit + 1 })
      const page = rows.slice(0, limit)
      return { data: page.map(driftRecordOf), next_cursor: rows.length > limit ? String(page.at(-1)?.id) : null }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/pricing/drift/:id/review',
    summary: 'Marks the change as reviewed. The price applies either way.',
    role: 'system',
    params: idParams,
    response: driftRecord,
    audit: 'pricing.drift_review',
    async handler({ params: { id }, operator }) {
      const row = await view.write((db) => reviewDrift(db, id, operator.actor, gateway.clock.now()))
      if (row === undefined) throw notFound(`There is no price change ${id}.`)
      return driftRecordOf(row)
    },
  })
}

const DISABLED: z.input<typeof runRecord> = {
  id: null,
  status: 'disabled',
  source: null,
  ref: null,
  models: 0,
  changed: 0,
  drifted: 0,
  refused: 0,
  error: null,
  started_at: null,
  finished_at: null,
}

function runRecordOf({ status, started_at, finished_at, reason: _, lease_until: __, ...run }: RunRow): z.input<typeof runRecord> {
  return {
    ...run,
    status: status === 'running' ? 'failed' : status,
    started_at: instant(started_at),
    finished_at: instant(finished_at),
  }
}

function driftRecordOf(row: DriftRow): z.input<typeof driftRecord> {
  const { field, old_nano, new_nano, detected_at, reviewed_at, ...rest } = row
  return {
    ...rest,
    field,
    old: usdOf(field, old_nano),
    new: usdOf(field, new_nano),
    unit: isUnit(field) ? 'usd' : 'usd_per_1m_tokens',
    pct: percentMoved(old_nano, new_nano),
    detected_at: new Date(detected_at).toISOString(),
    reviewed_at: instant(reviewed_at),
  }
}

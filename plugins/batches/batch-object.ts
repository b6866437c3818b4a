// The batch as callers see it.
import { z } from 'zod'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { BatchRow } from './store.ts'

export const batchObject = z.looseObject({
  id: z.string(),
  object: z.literal('batch'),
  status: z.enum(['in_progress', 'cancelling', 'completed', 'cancelled', 'expired']),
  request_counts: z.looseObject({ total: z.int(), completed: z.int(), failed: z.int() }),
})

export function shown(row: BatchRow, counts: { ok: number; failed: number } | undefined): JsonObject {
  const { id, endpoint, status, metadata, total } = row
  const seconds = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1000))
  const ended = (wanted: BatchRow['status']) => (status === wanted ? seconds(row.ended_at) : null)
  return {
    id,
    object: 'batch',
    endpoint,
    status,
    completion_window: '24h',
    created_at: seconds(row.created_at),
    in_progress_at: seconds(row.started_at),
    completed_at: ended('completed'),
    cancelling_at: seconds(row.cancelling_at),
    cancelled_at: ended('cancelled'),
    expired_at: ended('expired'),
    expires_at: seconds(row.expires_at),
    request_counts: { total, completed: counts?.ok ?? 0, failed: counts?.failed ?? 0 },
    metadata: metadata === null ? null : (JSON.parse(metadata) as JsonObject),
  }
}

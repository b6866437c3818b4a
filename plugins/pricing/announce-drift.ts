// Prices that moved further than expected are taken over all the same; this says so, in the log, the audit chain and to plugins.
import type { AuditLog } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { Drift } from './book.ts'
import { percentMoved } from './decimal.ts'
import { usdOf } from './price-names.ts'

/** More say no more: all of them are rows. */
const SHOWN = 20

export async function announceDrift(
  { log, events }: PluginGateway,
  audit: AuditLog | undefined,
  runId: number,
  drifts: readonly Drift[],
): Promise<void> {
  const first = drifts.slice(0, SHOWN).map(({ provider, model, field, before, after }) => ({
    model: `${provider}/${model}`,
    field,
    old: usdOf(field, before),
    new: usdOf(field, after),
    pct: percentMoved(before, after),
  }))
  log.warn('pricing.drift', { run: runId, drifted: drifts.length, first })
  events.emit('pricing.drift_detected', { run_id: runId, drifted: drifts.length })
  const details = { drifted: drifts.length, first }
  await audit?.append({ orgId: null, actor: 'system', action: 'pricing.drift', target: `run:${runId}`, details, ip: null })
}

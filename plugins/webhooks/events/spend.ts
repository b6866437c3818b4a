// spend.tracked: sends request costs in batches. They are collected in memory: a killed process loses its last batch, and usage rows keep
// the cost.

import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Timer } from '../../../core/types/ports/ports.ts'
import type { Outcome, RequestContext } from '../../../core/types/request/context.ts'
import type { FullOutbox } from '../outbox.ts'
import { requestRecord } from './request-events.ts'

const TYPE = 'spend.tracked'
const BATCH_MS = 5000
const BATCH_RECORDS = 512

export class SpendBatches {
  readonly #gateway: PluginGateway
  readonly #outbox: FullOutbox
  readonly #batches = new Map<number | null, { records: object[]; timer: Timer }>()
  readonly #publishing = new Set<Promise<void>>()

  constructor(gateway: PluginGateway, outbox: FullOutbox) {
    this.#gateway = gateway
    this.#outbox = outbox
  }

  /** Adds a request that an upstream or a cache answered. */
  add(ctx: RequestContext, outcome: Outcome): void {
    const { orgId } = ctx.principal
    if (outcome.steps.length === 0 && outcome.cached === false) return
    if (!this.#outbox.wanted(TYPE, orgId)) return
    const { account_id, ...record } = requestRecord(ctx, outcome, this.#gateway.clock.now())
    let batch = this.#batches.get(orgId)
    if (batch === undefined) {
      batch = { records: [], timer: this.#gateway.clock.timer(BATCH_MS, () => this.#flush(orgId), true) }
      this.#batches.set(orgId, batch)
    }
    batch.records.push({ ...record, account_id: /^\d{1,15}$/.test(account_id) ? Number(account_id) : null, org_id: orgId })
    if (batch.records.length >= BATCH_RECORDS) this.#flush(orgId)
  }

  /** Queues the collected batch. */
  async close(): Promise<void> {
    for (const orgId of [...this.#batches.keys()]) this.#flush(orgId)
    await Promise.all(this.#publishing)
  }

  #flush(orgId: number | null): void {
    const batch = this.#batches.get(orgId)
    if (batch === undefined) return
    this.#batches.delete(orgId)
    batch.timer.cancel()
    const { records } = batch
    const publishing = this.#outbox
      .publish({ type: TYPE, orgId, data: { events: records, count: records.length } })
      .finally(() => this.#publishing.delete(publishing))
    this.#publishing.add(publishing)
  }
}

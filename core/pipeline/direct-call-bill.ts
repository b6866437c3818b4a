// Settles a direct call that a vendor bills, like an internal call: ledger, metrics and log see it under its source. It has no key, so no
// key's budget pays for it.
import { headerBag } from '../http/headers.ts'
import type { PriceService, SideBill } from '../services.ts'
import { ANONYMOUS, RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'
import { settle } from './settle.ts'

export function bookSideCall(runtime: Runtime, bill: SideBill): void {
  const { connection, model, operation, source, orgId, usage, status, startedAt } = bill
  const { generation, clock } = runtime
  const latencyMs = Math.max(0, clock.now() - startedAt)
  const ctx = new RequestState({
    ...{ ingress: null, generation, slotCount: runtime.slotCount, operation, dialect: 'chat', source },
    ...{ headers: headerBag(), now: startedAt, monotonic: clock.monotonic() - latencyMs },
  })
  const target = { provider: connection.provider, model, connectionId: connection.id, weight: 1 }
  ctx.requestedModel = `${connection.provider}/${model}`
  ctx.principal = { ...ANONYMOUS, orgId }
  ctx.plan = { targets: [target], strategy: 'direct', virtualModel: null }
  ctx.candidate = { target, connection }
  ctx.facts = { content: true, contentBytes: 0, terminal: true, usage, finish: null, error: null }
  ctx.attempts.push({ candidate: ctx.candidate, startedAt, status, latencyMs, usage, action: 'returned' })
  const prices = generation.service('prices') as PriceService | undefined
  const price = prices?.price({ connection, model, operation, usage }) ?? null
  ctx.steps.push({
    ...{
      index: 0,
      provider: connection.provider,
      connectionId: connection.id,
      model,
      usage,
      status,
      source,
      startedAt,
      latencyMs,
    },
    costNano: price?.costNano ?? null,
    chargeNano: price?.chargeNano ?? null,
    priceRef: price?.ref ?? null,
  })
  settle(runtime, ctx, { status, error: null, firstByteAt: null })
}

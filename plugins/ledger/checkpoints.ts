// Writes the progress of running requests at intervals: a crash leaves at most two seconds of a stream unbooked.
import type { PriceService } from '../../core/services.ts'
import type { Db, Statement } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { LiveRequest, Step } from '../../core/types/request/context.ts'
import { checkpoint, type Progress } from './dispatch.ts'
import { progressOf } from './recovery.ts'
import type { Trace } from './traces.ts'

export const CHECKPOINT_MS = 2000
const BYTES_PER_TOKEN = 4
/** Requests in one transaction; it takes a millisecond. Chunks of streams wait for it. */
const BATCH = 64

/** The stored trace of a running request. */
export interface Traceable {
  readonly promptBytes: number
  /** The trace that shares a row with others; null: the request has a row of its own. */
  readonly trace: Trace | null
}

/** @param traced returns null for a request without a trace: not admitted, or over. */
export function checkpoints(
  { db, clock }: { db: Db; clock: Pick<Clock, 'now'> },
  live: () => Iterable<LiveRequest>,
  prices: () => PriceService | undefined,
  traced: (ctx: LiveRequest['ctx']) => Traceable | null,
): () => Promise<void> {
  /** The last checkpoint of each request. */
  let before = new Map<string, string>()
  return async () => {
    const seen = new Map<string, string>()
    const due: { request: LiveRequest; sum: Progress | null }[] = []
    for (const request of live()) {
      const { ctx } = request
      const stored = traced(ctx)
      if (stored === null) continue
      const parts = progressIn(request, stored.promptBytes, prices())
      const sum = parts.reduce<Progress | null>((before, part) => (before === null ? part : added(before, part)), null)
      if (sum !== null) {
        const state = `${parts.length} ${sum.output}`
        seen.set(ctx.id, state)
        if (before.get(ctx.id) !== state) due.push({ request, sum })
      } else if (stored.trace?.alone === false && ctx.startedAt <= clock.now() - CHECKPOINT_MS) due.push({ request, sum })
    }
    before = seen
    for (let at = 0; at < due.length; at += BATCH) {
      if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve))
      await write(due.slice(at, at + BATCH))
    }
  }

  async function write(due: readonly { request: LiveRequest; sum: Progress | null }[]): Promise<void> {
    const statements: Statement[] = []
    const written: (() => void)[] = []
    for (const { request, sum } of due) {
      const { ctx } = request
      // It may have ended while others were written.
      const stored = traced(ctx)
      if (stored === null) continue
      if (stored.trace !== null) {
        const promoted = stored.trace.join.promote(stored.trace, sum)
        statements.push(...promoted.statements)
        written.push(promoted.done)
      } else if (sum !== null) statements.push(checkpoint(ctx.id, sum))
    }
    if (statements.length > 0) await db.atomic(statements)
    for (const done of written) done()
  }
}

/** Returns a request's usage so far, of its internal calls and its own. */
function progressIn(
  { ctx, contentBytes, usage, steps, calls }: LiveRequest,
  promptBytes: number,
  prices: PriceService | undefined,
): Progress[] {
  const parts = [...steps.map(progressOfStep), ...calls.flatMap((call) => progressIn(call, promptBytes, prices))]
  if (ctx.candidate === null || ctx.operation !== 'chat' || contentBytes === 0) return parts
  const input = usage?.inputTotal ?? Math.ceil(promptBytes / BYTES_PER_TOKEN)
  const output = Math.max(usage?.outputTotal ?? 0, Math.ceil(contentBytes / BYTES_PER_TOKEN))
  return [...parts, progressOf(prices, ctx.candidate, ctx.principal.orgId, input, output)]
}

function progressOfStep({ provider, connectionId, model, usage, costNano, chargeNano }: Step): Progress {
  return { provider, connectionId, model, input: usage.inputTotal, output: usage.outputTotal, costNano, chargeNano }
}

/** After a crash a request has one row, under the name of its first call. */
function added(sum: Progress, part: Progress): Progress {
  const nano = (a: number | null, b: number | null) => (a === null ? b : a + (b ?? 0))
  return {
    ...sum,
    input: sum.input + part.input,
    output: sum.output + part.output,
    costNano: nano(sum.costNano, part.costNano),
    chargeNano: nano(sum.chargeNano, part.chargeNano),
  }
}

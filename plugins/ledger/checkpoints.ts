// Writes the progress of running requests at intervals: a crash leaves at most two seconds of a stream unbooked.
import type { PriceService } from '../../core/services.ts'
import type { LiveRequest, Step } from '../../core/types/context.ts'
import type { Db } from '../../core/types/db.ts'
import { checkpoint, type Progress } from './dispatch.ts'
import { progressOf } from './recovery.ts'

export const CHECKPOINT_MS = 2000
const BYTES_PER_TOKEN = 4
const BATCH = 200

/** @param promptBytesOf of a request that has a trace to update; null: it has none. */
export function checkpoints(
  db: Db,
  live: () => Iterable<LiveRequest>,
  prices: () => PriceService | undefined,
  promptBytesOf: (ctx: LiveRequest['ctx']) => number | null,
): () => Promise<void> {
  /** The last checkpoint of each request. */
  let before = new Map<string, string>()
  return async () => {
    const seen = new Map<string, string>()
    const statements: ReturnType<typeof checkpoint>[] = []
    for (const request of live()) {
      const { ctx } = request
      const promptBytes = promptBytesOf(ctx)
      if (promptBytes === null) continue
      const parts = progressIn(request, promptBytes, prices())
      const sum = parts.reduce<Progress | null>((before, part) => (before === null ? part : added(before, part)), null)
      if (sum === null) continue
      const state = `${parts.length} ${sum.output}`
      seen.set(ctx.id, state)
      if (before.get(ctx.id) !== state) statements.push(checkpoint(ctx.id, sum))
    }
    before = seen
    for (let at = 0; at < statements.length; at += BATCH) await db.atomic(statements.slice(at, at + BATCH))
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

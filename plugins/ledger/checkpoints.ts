// How far running requests have come, written down now and then: what a crash can leave unbooked is two seconds of a stream.
import type { PriceService } from '../../core/services.ts'
import type { LiveRequest } from '../../core/types/context.ts'
import type { Db } from '../../core/types/db.ts'
import { checkpoint } from './dispatch.ts'
import { progressOf } from './recovery.ts'

export const CHECKPOINT_MS = 2000
const BYTES_PER_TOKEN = 4
const BATCH = 200

/** @param promptBytesOf of a request that has a trace to write to; null: it has none. */
export function checkpoints(
  db: Db,
  live: () => Iterable<LiveRequest>,
  prices: () => PriceService | undefined,
  promptBytesOf: (ctx: LiveRequest['ctx']) => number | null,
): () => Promise<void> {
  /** Output tokens at the last checkpoint. */
  let before = new Map<string, number>()
  return async () => {
    const seen = new Map<string, number>()
    const statements: ReturnType<typeof checkpoint>[] = []
    for (const { ctx, contentBytes, usage } of live()) {
      if (ctx.candidate === null || ctx.operation !== 'chat' || contentBytes === 0) continue
      const promptBytes = promptBytesOf(ctx)
      if (promptBytes === null) continue
      const output = Math.max(usage?.outputTotal ?? 0, Math.ceil(contentBytes / BYTES_PER_TOKEN))
      seen.set(ctx.id, output)
      if (before.get(ctx.id) === output) continue
      const input = usage?.inputTotal ?? Math.ceil(promptBytes / BYTES_PER_TOKEN)
      const { connection, target } = ctx.candidate
      statements.push(checkpoint(ctx.id, progressOf(prices(), connection, target.model, input, output)))
    }
    before = seen
    for (let at = 0; at < statements.length; at += BATCH) await db.atomic(statements.slice(at, at + BATCH))
  }
}

// Sends a share of the users to another model. A user always gets the same side.
import { createHash } from 'node:crypto'
import { definePlugin } from 'hookgate'
import { z } from 'zod'

const side = z.object({ provider: z.string(), model: z.string() })

export const abSplit = definePlugin({
  name: 'ab-split',
  config: z.object({ name: z.string(), a: side, b: side, shareOfB: z.number().min(0).max(1) }),
  setup({ hook }, { name, a, b, shareOfB }) {
    hook(
      'resolve',
      (ctx) => {
        if (ctx.requestedModel !== name) return undefined
        const user = ctx.userId ?? ctx.sessionId ?? String(ctx.principal.keyId)
        const point = createHash('sha256').update(`${name}:${user}`).digest().readUInt32BE(0) / 2 ** 32
        const isB = point < shareOfB
        // The request log shows the note, so that you can compare both sides.
        ctx.note('ab_split', isB ? 'b' : 'a')
        return { targets: [{ ...(isB ? b : a), connectionId: null, weight: 1 }], strategy: 'ab-split', virtualModel: null }
      },
      { order: 'pre' },
    )
  },
})

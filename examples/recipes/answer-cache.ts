// A cache for deterministic chat requests: equal requests of one key get the stored bytes. Streams are not cached.
import { createHash } from 'node:crypto'
import { comparableJson, decodeUtf8, definePlugin, encodeUtf8 } from 'hookgate'
import { z } from 'zod'

export const answerCache = definePlugin({
  name: 'answer-cache',
  config: z.object({ ttlSecs: z.int().min(1).default(600) }),
  setup({ hook, storage, slot }, { ttlSecs }) {
    const hit = slot<boolean>()
    hook(
      'answer',
      async (ctx) => {
        // The client key is part of the scope, so that keys never share answers.
        const scope = comparableJson([ctx.principal.keyId, ctx.dialect, ctx.request])
        const key = createHash('sha256').update(scope).digest('hex')
        const stored = await storage.getItem<{ body: string }>(key)
        if (stored !== null) {
          hit.set(ctx, true)
          ctx.cached = 'exact'
          return { kind: 'raw', status: 200, headers: ['content-type', 'application/json'], body: encodeUtf8(stored.body) }
        }
        ctx.tap(({ status, body }) => {
          if (status === 200) void storage.setItem(key, { body: decodeUtf8(body) }, { ttl: ttlSecs })
        })
        return undefined
      },
      {
        operation: 'chat',
        when: (ctx) => !ctx.stream && 'sampling' in ctx.request && ctx.request.sampling.temperature === 0,
      },
    )
    hook('settled', (ctx) => void (hit.get(ctx) && ctx.note('answer_cache', 'hit')))
  },
})

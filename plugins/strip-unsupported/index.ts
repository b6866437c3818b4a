// GATEWAY_STRIP_UNSUPPORTED_FIELDS: when an upstream refuses one field by name, the request is sent again without that field, once per
// field, to the same account. An identifier that is too long is first sent as its hash. Each call is a line of the timeline.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { UpstreamFailure } from '../../core/types/error.ts'
import type { Result } from '../../core/types/request/result.ts'

/** With more refusals than this, the cause is not a field. */
const MAX_FIELDS = 5

type Change = 'hash' | 'strip'

export const stripUnsupported = definePlugin({
  name: 'strip-unsupported',
  config: z.object({ enabled: z.boolean().default(true) }),
  variables: {
    STRIP_UNSUPPORTED_FIELDS: { option: 'enabled', about: 'Retry without a field when an upstream refuses it by name.' },
  },
  setup(gateway, { enabled }) {
    if (!enabled) return
    const changes = gateway.slot<ReadonlyMap<string, Change> | undefined>()

    gateway.hook('attempt', (ctx, _candidate, next) => {
      // Another account may support the field.
      if (changes.get(ctx) !== undefined) changes.set(ctx, undefined)
      const again = (error: unknown): Promise<Result> => {
        const more = GatewayError.is(error) ? changed(changes.get(ctx) ?? NONE, error.upstream) : null
        if (more === null) throw error
        changes.set(ctx, more)
        return next().catch(again)
      }
      return next().catch(again)
    })

    gateway.hook(
      'encoded',
      (ctx, { body }) => {
        for (const [field, change] of changes.get(ctx) ?? NONE) {
          const slug = field.replace(/[^A-Za-z0-9]+/g, '_')
          const value = change === 'hash' ? body.get(field) : undefined
          if (typeof value === 'string') {
            body.set(field, createHash('sha256').update(value).digest('hex'))
            ctx.warn(`hashed_${slug}`)
          } else {
            body.remove(field)
            ctx.warn(`stripped_${slug}`)
          }
        }
      },
      { order: 'post' },
    )
  },
})

/** Without these fields it would be another request. */
const PROTECTED = new Set([
  ...['model', 'messages', 'input', 'contents', 'stream', 'mode'],
  ...['prompt', 'suffix', 'echo', 'query', 'documents', 'document', 'images', 'image', 'content', 'requests'],
])
const NONE: ReadonlyMap<string, Change> = new Map()

/** Returns the change for the next attempt; null: return the refusal. */
function changed(before: ReadonlyMap<string, Change>, upstream: UpstreamFailure | null): ReadonlyMap<string, Change> | null {
  const field = upstream?.status === 400 ? upstream.field : null
  if (field === null || PROTECTED.has(field)) return null
  const known = before.get(field)
  if (known === 'strip' || (known === undefined && before.size >= MAX_FIELDS)) return null
  return new Map(before).set(field, upstream?.fieldTooLong === true && known === undefined ? 'hash' : 'strip')
}

export default stripUnsupported

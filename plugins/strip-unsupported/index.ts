// GATEWAY_STRIP_UNSUPPORTED_FIELDS: an upstream that refuses one field by name is asked again without exactly that field,
// once per field, on the same account (SPEC "Cross-provider parameter mapping"). Each asking is a line of the timeline.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Result } from '../../core/types/result.ts'

/** RELIABILITY row 21: more refusals than this are not about fields any more. */
const MAX_FIELDS = 5

export const stripUnsupported = definePlugin({
  name: 'strip-unsupported',
  config: z.object({ enabled: z.boolean().default(true).meta({ env: 'STRIP_UNSUPPORTED_FIELDS' }) }),
  setup(gateway, { enabled }) {
    if (!enabled) return
    const stripped = gateway.slot<string[] | undefined>()

    gateway.hook('attempt', (ctx, _candidate, next) => {
      // Another account may know the field.
      if (stripped.get(ctx) !== undefined) stripped.set(ctx, undefined)
      const again = (error: unknown): Promise<Result> => {
        const field = GatewayError.is(error) && error.upstream?.status === 400 ? error.upstream.field : null
        const fields = stripped.get(ctx) ?? []
        if (field === null || fields.includes(field) || fields.length >= MAX_FIELDS || PROTECTED.has(field)) throw error
        stripped.set(ctx, [...fields, field])
        return next().catch(again)
      }
      return next().catch(again)
    })

    gateway.hook(
      'encoded',
      (ctx, call) => {
        for (const field of stripped.get(ctx) ?? []) {
          call.body.remove(field)
          ctx.warn(`stripped_${field.replace(/[^A-Za-z0-9]+/g, '_')}`)
        }
      },
      { order: 'post' },
    )
  },
})

/** Without these the request is another one. */
const PROTECTED = new Set(['model', 'messages', 'input', 'contents', 'stream'])

export default stripUnsupported

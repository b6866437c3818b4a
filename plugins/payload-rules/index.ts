// PAYLOAD_RULES_PATH: the operator's edits of upstream bodies, from a file that is reloaded on change. They run after other plugins'
// edits, but before replayed thoughts and the removal of refused fields.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { applyRule } from './apply.ts'
import { rulesFile } from './rules-file.ts'

/** Less than a second, also with the jitter of a job. */
const LOOK_MS = 900

export const payloadRules = definePlugin({
  name: 'payload-rules',
  config: z.strictObject({
    /** Path of the JSON file; unset = no rules. */
    path: z.string().min(1).optional(),
  }),
  variables: {
    PAYLOAD_RULES_PATH: { option: 'path', lenient: true, about: 'JSON file of payload rules, re-read when it changes.' },
  },
  async setup(gateway, { path }) {
    if (path === undefined) return
    const file = rulesFile(path, gateway.log)
    await file.look()
    gateway.every('look', LOOK_MS, file.look)

    // Cache keys cover the caller's request, so the version of the rules must be part of them.
    const cachePolicy = gateway.optional('cachePolicy')
    gateway.hook('ready', () => cachePolicy()?.version('payload_rules', () => file.version))

    gateway.hook(
      'encoded',
      (ctx, call) => {
        const applied: string[] = []
        for (const rule of file.rules) if (rule.matches(call.codec) && applyRule(call.body, rule)) applied.push(rule.name)
        if (applied.length > 0) ctx.note('payload_rules', [...new Set([...noted(ctx), ...applied])])
      },
      {
        after: ['virtual-models', 'cache-injection'],
        // A token-count body has fewer valid members than a request.
        when: (ctx) => file.rules.length > 0 && ctx.operation !== 'count_tokens',
      },
    )
  },
})

/** Returns the rules that were applied to earlier attempts. */
function noted(ctx: RequestContext): string[] {
  const names = ctx.notes?.payload_rules
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

export default payloadRules

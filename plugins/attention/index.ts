// GET /api/attention: what an operator should look at now. Plugins contribute their own facts; this one adds those of the whole gateway.
import { z } from 'zod'
import { attentionId } from '../../core/attention.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { AttentionItem, AttentionScope } from '../../core/types/attention.ts'
import type { Operator } from '../../core/types/operator.ts'
import { gatewayFacts } from './gateway-facts.ts'

/** Many pages may ask at once. */
const CACHE_MS = 5000
/** Organizations with a cached answer. */
const MAX_CACHED = 1000

const item = z.strictObject({
  id: z.string().describe('Stays the same while the fact holds.'),
  severity: z.enum(['critical', 'warning']),
  kind: z.string(),
  subject: z.strictObject({ kind: z.string(), id: z.string(), label: z.string() }),
  title: z.string(),
  since: z.iso.datetime().nullable(),
  effect: z.string().nullable().describe('Its effect on requests or money; null: none yet.'),
  levers: z
    .array(z.strictObject({ label: z.string(), method: z.string(), path: z.string(), body: z.json() }))
    .describe('Calls that help. Empty for operators who may not make them.'),
  link: z.string().nullable(),
})

export const attention = definePlugin({
  name: 'attention',
  setup(gateway) {
    const { clock } = gateway
    const board = gateway.use('attention')
    const cache = new Map<string, { at: number; items: Promise<readonly AttentionItem[]> }>()

    const cached = (scope: AttentionScope): Promise<readonly AttentionItem[]> => {
      const name = `${scope.orgId} ${scope.system}`
      const known = cache.get(name)
      if (known !== undefined && clock.monotonic() - known.at < CACHE_MS) return known.items
      if (cache.size >= MAX_CACHED) cache.clear()
      const items = board.collect(scope)
      cache.set(name, { at: clock.monotonic(), items })
      return items
    }

    // An operator sees the effect of a lever at once.
    gateway.events.on('audit.appended', () => cache.clear())

    gateway.api({
      method: 'GET',
      path: '/api/attention',
      summary:
        'Lists the problems that need attention now: critical ones first, then the oldest. The list is at most five seconds old.',
      role: 'member',
      response: z.strictObject({ data: z.array(item) }),
      async handler({ operator, orgId }) {
        const items = await cached({ orgId, system: operator.role === 'system' })
        return { data: items.map((one) => recordOf(one, mayAct(operator))) }
      },
    })
    return board.contribute('gateway', gatewayFacts(gateway))
  },
})

function mayAct({ role, readOnly }: Operator): boolean {
  return role !== 'member' && !readOnly
}

function recordOf(one: AttentionItem, acts: boolean): z.input<typeof item> {
  return {
    id: attentionId(one),
    severity: one.severity,
    kind: one.kind,
    subject: { ...one.subject },
    title: one.title,
    since: one.since === null ? null : new Date(one.since).toISOString(),
    effect: one.effect,
    levers: acts ? one.levers.map((lever) => ({ ...lever, body: lever.body as z.input<ReturnType<typeof z.json>> })) : [],
    link: one.link,
  }
}

export default attention

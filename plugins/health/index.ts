// Serves liveness, readiness and /healthz. Answers have fixed fields only: no paths, no addresses.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { HealthCheck } from '../../core/types/ports/ports.ts'

type CheckResult = Awaited<ReturnType<HealthCheck['check']>>

const database = z.strictObject({ ok: z.boolean(), kind: z.string(), latency_ms: z.number() })
const sharedStore = z.union([
  z.strictObject({ configured: z.literal(false) }),
  z.strictObject({
    configured: z.literal(true),
    ok: z.boolean(),
    latency_ms: z.number(),
    mode: z.enum(['redis', 'local', 'primary']),
  }),
])
const healthz = z.strictObject({
  status: z.enum(['ok', 'degraded', 'draining']),
  profile: z.enum(['local', 'cloud']),
  version: z.string(),
  database: z.union([database, z.literal('none')]),
  shared_store: sharedStore,
  pricing: z
    .strictObject({ ok: z.boolean(), last_success_at: z.string().nullable() })
    .optional()
    .describe('Of the rate card, once a sync was tried; stored prices stay in use, so it does not degrade the status.'),
})
const readiness = z.strictObject({ status: z.enum(['ready', 'draining', 'database_unreachable']) })

export const health = definePlugin({
  name: 'health',
  setup(gateway) {
    const status = gateway.use('status')
    const pricing = gateway.optional('pricingStatus')
    const draining = () => status.state === 'draining'
    const results = async (): Promise<Map<string, CheckResult>> =>
      new Map(await Promise.all(status.checks.map(async (check) => [check.name, await check.check()] as const)))

    // Clients call these before their first request (`HEAD`), and treat any status except 200 as a broken gateway.
    for (const path of ['/', '/api/hello']) {
      gateway.api({
        method: 'GET',
        path,
        summary: 'The gateway is there; some clients ask before their first request.',
        role: 'public',
        response: z.strictObject({ status: z.literal('ok') }),
        handler: () => ({ status: 'ok' as const }),
      })
    }
    gateway.api({
      method: 'GET',
      path: '/healthz',
      summary: 'Status, profile, and the health of what the gateway depends on; 200 even when degraded.',
      role: 'public',
      response: healthz,
      async handler() {
        const checks = await results()
        const prices = pricing()?.summary() ?? null
        const degraded = [...checks.values()].some(({ ok }) => ok === false)
        return {
          status: draining() ? ('draining' as const) : degraded ? ('degraded' as const) : ('ok' as const),
          profile: status.profile,
          version: status.version,
          database: (checks.get('database') as z.input<typeof database> | undefined) ?? ('none' as const),
          shared_store: (checks.get('shared_store') as z.input<typeof sharedStore> | undefined) ?? { configured: false as const },
          ...(prices === null ? {} : { pricing: prices }),
        }
      },
    })
    gateway.api({
      method: 'GET',
      path: '/health/liveliness',
      summary: 'The process is up; nothing else is checked.',
      role: 'public',
      response: z.strictObject({ status: z.literal('ok') }),
      handler: () => ({ status: 'ok' as const }),
    })
    gateway.api({
      method: 'GET',
      path: '/health/readiness',
      summary: '503 while the gateway drains or the database is unreachable.',
      role: 'public',
      response: readiness,
      responses: { 503: readiness },
      async handler() {
        const required = status.checks.filter(({ required }) => required)
        const reachable = (await Promise.all(required.map((check) => check.check()))).every(({ ok }) => ok)
        const state = draining() ? 'draining' : reachable ? 'ready' : 'database_unreachable'
        return Response.json({ status: state }, { status: state === 'ready' ? 200 : 503 })
      },
    })
  },
})

export default health

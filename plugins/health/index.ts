// Liveness, readiness and /healthz (SPEC "Health and metrics"). Fixed fields only: no paths, no addresses.
import { definePlugin } from '../../core/plugins/define.ts'

export const health = definePlugin({
  name: 'health',
  setup(gateway) {
    const status = gateway.use('status')
    const draining = () => status.state === 'draining'

    gateway.api({
      method: 'GET',
      path: '/healthz',
      summary: 'Status, profile, and the health of what the gateway depends on; 200 even when degraded.',
      role: 'public',
      handler: () => ({
        status: draining() ? 'draining' : 'ok',
        profile: status.profile,
        version: status.version,
        database: 'none',
        shared_store: 'none',
      }),
    })
    gateway.api({
      method: 'GET',
      path: '/health/liveliness',
      summary: 'The process is up; nothing else is checked.',
      role: 'public',
      handler: () => ({ status: 'ok' }),
    })
    gateway.api({
      method: 'GET',
      path: '/health/readiness',
      summary: '503 while the gateway drains or cannot serve.',
      role: 'public',
      handler: () =>
        Response.json(
          { status: draining() ? 'draining' : 'ready' },
          { status: draining() ? 503 : 200, headers: { 'cache-control': 'no-store' } },
        ),
    })
  },
})

export default health

// Checks money and records: old prices, budgets without an entity, webhook endpoints that do not answer, stored bodies.
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Surroundings } from '../place.ts'
import { type Finding, ok, warn } from './finding.ts'

const HOUR_MS = 3_600_000
/** Number of intervals without a successful price fetch after which it is reported. */
const MISSED = 4

export async function checkRecords(plane: ControlPlane, { env }: Surroundings): Promise<Finding[]> {
  const { api } = plane.gateway
  // A plugin may be absent.
  const has = (route: string) => api.some(({ method, path }) => method === 'GET' && path === route)
  return [
    ...(has('/api/pricing/resolve') && has('/healthz') ? await checkPrices(plane, env) : []),
    ...(has('/api/budgets') ? await checkBudgets(plane) : []),
    ...(has('/api/webhooks/endpoints') ? await checkWebhooks(plane) : []),
    ...(has('/api/logs') ? await checkBodies(plane, env) : []),
  ]
}

interface Health {
  pricing?: { ok: boolean; last_success_at: string | null }
}

async function checkPrices({ call }: ControlPlane, env: Surroundings['env']): Promise<Finding[]> {
  const { pricing } = await call<Health>('GET', '/healthz')
  const at = pricing?.last_success_at ?? null
  if (!env.get<boolean>('PRICING_SYNC_ENABLED'))
    return [ok('prices', `They are not fetched here; ${at === null ? 'those compiled in hold' : `those of ${at} hold`}.`)]
  const fix =
    'See that GATEWAY_PRICING_SYNC_URL can be reached, or set GATEWAY_PRICING_SYNC_ENABLED=false and your own overrides.'
  if (pricing === undefined)
    return [warn('prices', 'They were never fetched: those compiled in hold.', 'A server fetches them shortly after its start.')]
  if (at === null) return [warn('prices', 'They could never be fetched: those compiled in hold.', fix)]
  const hours = Math.floor((Date.now() - Date.parse(at)) / HOUR_MS)
  const limit = (env.get<number>('PRICING_SYNC_INTERVAL_SECS') * 1000 * MISSED) / HOUR_MS
  if (hours > limit) return [warn('prices', `They are ${hours} hours old.`, fix)]
  return [ok('prices', `They were fetched at ${at}.`)]
}

async function checkBudgets({ call }: ControlPlane): Promise<Finding[]> {
  interface Budget {
    id: number
    enabled: boolean
    warning?: { message: string }
  }
  const { data } = await call<{ data: Budget[] }>('GET', '/api/budgets')
  const lost = data.flatMap(({ id, enabled, warning }) =>
    enabled && warning !== undefined ? [[id, warning.message] as const] : [],
  )
  if (lost.length === 0) return [ok('budgets', `${data.length} are set, and each has its entity.`)]
  return lost.map(([id, message]) =>
    warn('budgets', `Budget ${id}: ${message}`, 'Correct the name in gateway.config.ts, or run `hookgate budget delete`.'),
  )
}

async function checkWebhooks({ call }: ControlPlane): Promise<Finding[]> {
  interface Endpoint {
    id: string
    url: string
    enabled: boolean
    failing_since: string | null
  }
  const { data } = await call<{ data: Endpoint[] }>('GET', '/api/webhooks/endpoints')
  const failing = data.flatMap(({ id, url, enabled, failing_since }): Finding[] => {
    if (failing_since === null) return []
    const { host } = new URL(url)
    const message = enabled
      ? `Endpoint ${id} (${host}) has failed since ${failing_since}; after five days it is disabled.`
      : `Endpoint ${id} (${host}) is disabled, and had failed since ${failing_since}.`
    const revive = enabled ? '' : `, then PUT {"enabled": true} to /api/webhooks/endpoints/${id}`
    return [warn('webhooks', message, `Run \`hookgate webhook test ${id}\`, see what its receiver says${revive}.`)]
  })
  if (failing.length > 0) return failing
  return [
    ok('webhooks', `${data.filter(({ enabled }) => enabled).length} of ${data.length} endpoints are enabled, none is failing.`),
  ]
}

async function checkBodies({ call }: ControlPlane, env: Surroundings['env']): Promise<Finding[]> {
  const settings = await call<{ request_log?: { bodies?: boolean } }>('GET', '/api/settings')
  if (settings.request_log?.bodies !== true) return [ok('request log', 'Bodies are not kept.')]
  if (env.get<string>('PROFILE') !== 'cloud') return [ok('request log', 'Bodies are kept, sealed.')]
  return [
    warn(
      'request log',
      'Bodies of requests and answers are kept, of all who call.',
      'Set `request_log.bodies` to false, or see that those who call know, and that GATEWAY_LOG_BODY_RETENTION_DAYS is short.',
    ),
  ]
}

// Facts about the whole gateway: its stores, its configuration and its plugins. Only operators of the role `system` see them.
import type { AttentionFacts, AttentionItem } from '../../core/types/attention.ts'
import type { PluginInfo } from '../../core/types/plugin/info.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { HealthCheck } from '../../core/types/ports/ports.ts'

/** A database whose round trip takes longer is slow. */
const SLOW_MS = 1000
const MAX_REASON = 300

export function gatewayFacts(gateway: PluginGateway): AttentionFacts {
  const status = gateway.use('status')
  const plugins = gateway.use('plugins')
  return async ({ system }) => {
    if (!system) return []
    const stores = await Promise.all(status.checks.map(storeFact))
    const failing = plugins.list().filter(({ state }) => state === 'degraded')
    return [...stores.flat(), ...refusedFact(status.refusedReload), ...failing.map(pluginFact)]
  }
}

async function storeFact(check: HealthCheck): Promise<AttentionItem[]> {
  const { ok, latency_ms, mode } = await check.check()
  const latency = typeof latency_ms === 'number' ? latency_ms : 0
  const fact = {
    subject: { kind: 'store', id: check.name, label: check.name },
    since: null,
    levers: [],
    link: '/system?tab=health',
  }
  if (check.name === 'database') {
    if (!ok)
      return [
        {
          ...fact,
          kind: 'database_unreachable',
          severity: 'critical',
          title: 'The database does not answer.',
          effect: 'This replica is not ready, and changes are refused.',
        },
      ]
    if (latency < SLOW_MS) return []
    return [
      {
        ...fact,
        kind: 'database_slow',
        severity: 'warning',
        title: `The database takes ${latency} ms to answer.`,
        effect: 'Requests wait for their reservations.',
      },
    ]
  }
  if (ok && mode !== 'local') return []
  return [
    {
      ...fact,
      kind: 'shared_store_fallback',
      severity: 'warning',
      title: 'The shared store does not answer.',
      effect: 'Limits count in each replica by itself, or as GATEWAY_LIMITER_REDIS_FALLBACK says.',
    },
  ]
}

function refusedFact(refused: { at: number; message: string } | null): AttentionItem[] {
  if (refused === null) return []
  const reason = refused.message.replace(/\s+/g, ' ').trim().slice(0, MAX_REASON)
  return [
    {
      kind: 'reload_refused',
      severity: 'warning',
      subject: { kind: 'configuration', id: 'file', label: 'configuration' },
      title: `The newest configuration was refused: ${reason}`,
      since: refused.at,
      effect: 'The last good configuration keeps serving.',
      levers: [],
      link: '/system?tab=config',
    },
  ]
}

function pluginFact({ name, errors, lastError }: PluginInfo): AttentionItem {
  const refused = lastError?.refused === true
  return {
    kind: 'plugin_failing',
    severity: refused ? 'critical' : 'warning',
    subject: { kind: 'plugin', id: name, label: name },
    title: `The plugin \`${name}\` fails in its hook \`${lastError?.hook ?? ''}\`.`,
    since: lastError?.at ?? null,
    effect: `${errors} ${errors === 1 ? 'failure' : 'failures'} since the start; ${refused ? 'the requests were refused' : 'the hook was skipped'}.`,
    levers: [],
    link: `/system?tab=plugins&open=${encodeURIComponent(name)}`,
  }
}

// The control plane without a server: the gateway is loaded as `serve` loads it, and its routes are called in this process, on
// the same database and with the same master key. So checks, audit and answers are the routes' own, and a server that runs
// beside it follows within two seconds.
import type { HostedGateway } from '../../core/gateway.ts'
import type { Logger } from '../../core/types/ports.ts'
import { ApiFailure } from './api-failure.ts'
import { say } from './say.ts'

export interface Place {
  config?: string | undefined
  'data-dir'?: string | undefined
}

export interface ControlPlane {
  readonly gateway: HostedGateway
  /** The answer of a route. @throws ApiFailure */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
}

/** @throws Error when the configuration is wrong or the database lives in memory; ApiFailure */
export async function withControlPlane<T>(place: Place, work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  const { loadGateway } = await import('../node/load-gateway.ts')
  const flags = { CONFIG: place.config, DATA_DIR: place['data-dir'] }
  const loaded = await loadGateway({ flags, watch: false, reconcile: false, ports: { log: stderrLog } })
  try {
    refuseMemory(loaded.gateway)
    return await work({ gateway: loaded.gateway, call: (method, path, body) => call(loaded.gateway, method, path, body) })
  } finally {
    await loaded.close()
  }
}

/** Whoever holds master key and database may do anything: the host vouches. */
const OPERATOR = { actor: 'cli', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const

async function call<T>(gateway: HostedGateway, method: string, path: string, body: unknown): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const request = new Request(`http://cli.local${path}`, { method, ...sent })
  const response = await gateway.control.fetch(request, { address: null, local: true, secure: true, operator: OPERATOR })
  const answer = (await response.json()) as { error?: { message: string; param: string | null; code: string | null } }
  if (response.ok) return answer as T
  const { message = `${method} ${path}: ${response.status}`, param = null, code = null } = answer.error ?? {}
  if (code === 'unknown_url')
    throw new Error(`This configuration has no plugin that answers ${method} ${path}. Add it to \`plugins\`, or use the preset.`)
  throw new ApiFailure(response.status, message, param)
}

function refuseMemory({ env }: HostedGateway): void {
  const url = env.get<string | null>('DATABASE_URL')
  if (url === null || !/^(sqlite:)?:memory:$/.test(url)) return
  throw new Error('GATEWAY_DATABASE_URL names a database in memory: what is done here would end with this command.')
}

const stderrLog: Logger = {
  debug() {},
  info() {},
  warn: (message, fields) => say.warn(line(message, fields)),
  error: (message, fields) => say.error(line(message, fields)),
}

function line(message: string, fields: object | undefined): string {
  const more = Object.entries(fields ?? {}).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [message, ...more].join('; ')
}

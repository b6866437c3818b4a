// The lines below `hookgate listening on …`: address of the dashboard, state, configuration, and what to do next. For people, on stderr.
import { relative } from 'node:path'
import { sql } from '../../../core/db/sql.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { planeOf } from '../control-plane/control-plane.ts'
import { styled } from '../output/table.ts'

export interface BannerFacts {
  readonly url: string
  readonly path: string | null
  readonly readyMs: number
}

export async function banner(gateway: HostedGateway, { url, path, readyMs }: BannerFacts): Promise<string> {
  const { call } = planeOf(gateway)
  // A plugin that is left out has no route.
  const get = <T>(route: string): Promise<T | null> => call<T>('GET', route).catch(() => null)
  const [listed, keys, sources, migrations] = await Promise.all([
    get<{ data: readonly { provider: string }[] }>('/api/providers'),
    get<{ total: number }>('/api/keys?limit=1'),
    get<Record<string, { pinned: boolean }>>('/api/settings/sources'),
    migrationsOf(gateway),
  ])
  const connections = listed?.data ?? null
  const plugins = gateway.plugins()
  const pinned = Object.values(sources ?? {}).filter((source) => source.pinned).length
  const names = [...new Set((connections ?? []).map(({ provider }) => provider))].slice(0, 4).join(', ')
  const config = [
    path === null ? 'no file: every default applies' : relative(process.cwd(), path),
    ...(connections === null ? [] : [`${counted(connections.length, 'connection')}${names === '' ? '' : ` (${names})`}`]),
    ...(keys === null ? [] : [counted(keys.total, 'key')]),
    ...(pinned === 0 ? [] : [`${counted(pinned, 'setting')} pinned`]),
    `${counted(plugins.length, 'plugin')}, gen ${Math.max(0, ...plugins.map(({ generation }) => generation))}`,
  ]
  const state = [
    gateway.env.get<string>('PROFILE'),
    storeOf(gateway),
    ...(migrations === null ? [] : [`${counted(migrations, 'migration')} applied`]),
    `ready in ${(readyMs / 1000).toFixed(2)} s`,
  ]
  const lines: [string, string][] = [
    ...(plugins.some(({ name }) => name === 'dashboard')
      ? [['dashboard', `${url}/   ${doorOf(gateway)}`] as [string, string]]
      : []),
    ['state', state.join(' · ')],
    ['config', config.join(' · ')],
    ['next', `${keys?.total === 0 ? 'hookgate init     or     ' : ''}${curl(url)}`],
  ]
  return lines.map(([name, text]) => `  ${styled(name.padEnd(9), 'dim')}  ${text}`).join('\n')
}

/** A first request, as a caller would type it. */
export function curl(url: string, key = false): string {
  const header = key ? ' -H "Authorization: Bearer $KEY"' : ''
  return `curl ${url}/v1/chat/completions${header} -H 'content-type: application/json' -d '{"model":"echo/echo-1","messages":[{"role":"user","content":"Hello"}]}'`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

async function migrationsOf({ db }: HostedGateway): Promise<number | null> {
  const row = await db?.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM gateway_migrations`)
  return row === undefined ? null : Number(row.count)
}

function storeOf({ env }: HostedGateway): string {
  const url = env.get<string | null>('DATABASE_URL')
  if (url !== null && /^postgres(ql)?:/.test(url)) return 'PostgreSQL'
  return url !== null && /:memory:$/.test(url)
    ? 'SQLite in memory'
    : `SQLite in ${env.get<string | null>('DATA_DIR') ?? 'memory'}`
}

function doorOf({ env }: HostedGateway): string {
  const known = (name: string): boolean => env.all().some(({ variable }) => variable.name === name)
  const hash = known('DASHBOARD_PASSWORD_HASH') ? env.get<string | null>('DASHBOARD_PASSWORD_HASH') : null
  return hash ? 'with a password' : 'open to this computer: no password set (hookgate password hash)'
}

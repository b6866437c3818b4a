// Calls the control plane: of a running server with `--url`, otherwise without one. Then it loads the gateway as `serve` does and calls its routes in this process, on the same database
// and with the same master key. So checks, audit and answers are the routes' own, and a running server sees the changes within two
// seconds.
import type { HostedGateway } from '../../../core/gateway.ts'
import { loggedText } from '../../../core/text/error-text.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { createClient, type HookgateClient, HookgateError } from '../../client/index.ts'
import { failUsage } from '../fail.ts'
import { say } from '../output/table.ts'
import { refusal } from './refusal.ts'

export interface Place {
  config?: string | undefined
  'data-dir'?: string | undefined
  /** A running server; then neither file nor database is opened. */
  url?: string | undefined
  token?: string | undefined
}

export interface ControlPlane {
  readonly gateway: HostedGateway
  /** Returns the answer of a route. @throws ApiFailure */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  /** For answers that are not JSON, or too long for memory. @throws ApiFailure */
  download(path: string): Promise<Response>
}

/**
 * Opens the control plane for a command that only reads. It creates no database, key or folder. Without a database it reads an empty one
 * in memory and prints that on stderr.
 * @throws Error when the database lacks migrations of this version.
 */
export async function readControlPlane<T>(
  place: Place,
  work: (plane: ControlPlane) => Promise<T>,
  quiet: Readonly<Record<string, string>> = {},
): Promise<T> {
  if (isRemote(place)) return withControlPlane(place, work)
  const [{ surroundings }, { missing }] = await Promise.all([import('../place.ts'), import('../installation/db.ts')])
  const found = await surroundings(place)
  const { there, steps } = await missing(found)
  const kept = found.file ?? (/^postgres/.test(found.databaseUrl ?? '') ? 'the tables' : null)
  if (!there && kept !== null) {
    say.info(`There is no data yet: \`hookgate serve\` creates ${kept}.`)
    return withControlPlane(place, work, { ...quiet, DATABASE_URL: EMPTY })
  }
  if (there && steps.length > 0)
    throw new Error(
      `The database lacks ${steps.length} migrations of this version. Run \`hookgate db migrate\` with a backup at hand.`,
    )
  return withControlPlane(place, work, quiet)
}

/**
 * As readControlPlane, for work that only calls routes of `READS` (quick/quick.ts): where nothing needs a gateway to judge it, their rows
 * are read without one. The answers are the same.
 */
export async function readQuickly<T>(place: Place, work: (plane: Pick<ControlPlane, 'call'>) => Promise<T>): Promise<T> {
  const { quickly } = await import('../quick/quick.ts')
  const found = isRemote(place) ? null : await quickly(place, work)
  return found === null ? readControlPlane(place, work) : found.value
}

/** An empty database in memory, for the duration of the command. */
export const EMPTY = 'sqlite::memory:'

/**
 * @param quiet variables that override the environment, for a long-running command that is not a server.
 * @throws Error when the configuration is wrong or the database is in memory; ApiFailure
 */
export async function withControlPlane<T>(
  place: Place,
  work: (plane: ControlPlane) => Promise<T>,
  quiet: Readonly<Record<string, string>> = {},
): Promise<T> {
  if (isRemote(place)) return work(await (await import('./remote-plane.ts')).remotePlane(place.url, place.token))
  const { loadGateway } = await import('../../node/loading/load-gateway.ts')
  const flags = { ...quiet, CONFIG: place.config, DATA_DIR: place['data-dir'] }
  const loaded = await loadGateway({ flags, watch: false, reconcile: false, ports: { log: stderrLog } })
  try {
    if (quiet.DATABASE_URL !== EMPTY) refuseMemory(loaded.gateway)
    return await work(planeOf(loaded.gateway))
  } finally {
    await loaded.close()
  }
}

/** Returns the control plane of a gateway in this process. */
export function planeOf(gateway: HostedGateway): ControlPlane {
  const client = createClient({ gateway, operator: OPERATOR })
  return { gateway, ...callsOf(client, refusal) }
}

/** Returns the calls of a client. `failureOf` turns its errors into those of the command line. */
export function callsOf(
  { send }: HookgateClient,
  failureOf: (error: HookgateError, method: string, path: string) => Error,
): Omit<ControlPlane, 'gateway'> {
  const answered = (method: string, path: string, body?: unknown): Promise<Response> =>
    send(method, path, { body }).catch((error: unknown) => {
      throw error instanceof HookgateError ? failureOf(error, method, path) : error
    })
  return {
    call: async <A>(method: string, path: string, body?: unknown) => (await (await answered(method, path, body)).json()) as A,
    download: (path) => answered('GET', path),
  }
}

/** @throws WrongUsage for a token without a server. */
function isRemote(place: Place): place is Place & { url: string } {
  if (place.url !== undefined && (place.config ?? place['data-dir']) !== undefined)
    failUsage('`--url` names a running server: `--config` and `--data-dir` do not go with it.')
  if (place.url === undefined && place.token !== undefined) failUsage('`--token` needs `--url`: the database asks for none.')
  return place.url !== undefined
}

/** A caller with the master key and the database already has full access, so the CLI acts with the system role. */
const OPERATOR = { actor: 'cli', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const

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
    ([name, value]) =>
      `${name}: ${typeof value === 'string' ? value : value instanceof Error ? loggedText(value) : JSON.stringify(value)}`,
  )
  return [message, ...more].join('; ')
}

/** The time window of the figures. */
export const WINDOW = {
  window: { type: 'string', description: '1h, 24h, 7d or 30d up to now; default: 24h', valueHint: 'window' },
  since: { type: 'string', description: 'From the beginning of this day in UTC, instead', valueHint: 'day' },
  until: { type: 'string', description: 'With --since: up to the beginning of this day', valueHint: 'day' },
} as const

/** Returns query members. Missing members get the API's defaults. */
export function queryOf(members: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

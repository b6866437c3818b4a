// Checks the database's content: connections that cannot work, missing keys, an unapplied configuration file, settings that the file fixes.
import { silentLog } from '../../../core/log.ts'
import { loadGateway } from '../../node/loading/load-gateway.ts'
import { builtInProviders } from '../../providers/index.ts'
import { type ControlPlane, EMPTY, type Place } from '../control-plane/control-plane.ts'
import type { Surroundings } from '../place.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'
import { checkRecords } from './records.ts'
import { checkTenancy } from './tenancy.ts'

interface Connection {
  id: number
  provider: string
  label: string
  has_api_key: boolean
  enabled: boolean
  state: { status: string }
}

export async function checkContents(plane: ControlPlane, place: Surroundings): Promise<Finding[]> {
  return [
    ...(await checkConnections(plane)),
    ...(await checkKeys(plane, place)),
    ...(await checkPlan(plane)),
    ...(await checkSettings(plane)),
    ...(await checkRecords(plane, place)),
    ...checkTenancy(plane, place),
  ]
}

/** Loads the file on an empty database in memory. @throws the Error that `serve` would exit with. */
export async function loadAlone(given: Place): Promise<void> {
  const flags = { CONFIG: given.config, DATA_DIR: given['data-dir'], DATABASE_URL: EMPTY }
  // Its warnings are already listed as findings.
  const loaded = await loadGateway({ flags, watch: false, reconcile: false, ports: { log: silentLog } })
  try {
    await loaded.gateway.plan()
  } finally {
    await loaded.close()
  }
}

async function checkConnections({ call }: ControlPlane): Promise<Finding[]> {
  const { data } = await call<{ data: Connection[] }>('GET', '/api/providers')
  if (data.length === 0)
    return [
      warn(
        'connections',
        'There is none: no model can be reached.',
        'Run `hookgate provider add`, or declare them in gateway.config.ts.',
      ),
    ]
  const enabled = data.filter((one) => one.enabled || one.state.status === 'unreadable')
  const findings = enabled.flatMap((one): Finding[] => {
    const name = `Connection ${one.id} (${one.label})`
    if (one.state.status === 'unreadable')
      return [
        fail(
          'connections',
          `${name} does not open with this master key.`,
          'Enter its key again: PUT /api/providers/:id, or remove it and add it again.',
        ),
      ]
    if (!one.has_api_key && needsKey(one.provider))
      return [
        fail(
          'connections',
          `${name} has no key, and ${one.provider} needs one.`,
          'Give it one, or check the variable that the file names.',
        ),
      ]
    return []
  })
  return findings.length > 0
    ? findings
    : [ok('connections', `${enabled.length} of ${data.length} are enabled, each with what it needs.`)]
}

function needsKey(provider: string): boolean {
  return builtInProviders.find(({ id, aliases }) => id === provider || aliases.includes(provider))?.needsKey ?? false
}

async function checkKeys({ call }: ControlPlane, { env }: Surroundings): Promise<Finding[]> {
  const { data } = await call<{ data: { expires_at: string | null }[] }>('GET', '/api/keys')
  const living = data.filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > Date.now())
  if (living.length === 0 && env.get<boolean>('REQUIRE_API_KEY'))
    return [warn('keys', 'Client keys are required, and there is none that works.', 'Run `hookgate key create`.')]
  return [ok('keys', `${living.length} client keys work, ${data.length - living.length} have expired.`)]
}

async function checkPlan({ gateway }: ControlPlane): Promise<Finding[]> {
  let steps: Awaited<ReturnType<typeof gateway.plan>>
  try {
    steps = await gateway.plan()
  } catch (error) {
    return [fail('plan', reasonOf(error), 'Correct the entry: `serve` would end with the same words.')]
  }
  const conflicts = steps.filter(({ action }) => action === 'conflict')
  if (conflicts.length > 0)
    return conflicts.map(({ section, key, id }) =>
      fail(
        'plan',
        `${section}.${key} of the file is taken by row ${id}, which was made through the API.`,
        'Say `adopt: true` in the file, or remove the row.',
      ),
    )
  if (steps.length === 0) return [ok('plan', 'The database says what the file says.')]
  return [
    warn(
      'plan',
      `${steps.length} entries of the file are not in the database as they stand.`,
      '`hookgate plan` shows them; the next start applies them.',
    ),
  ]
}

async function checkSettings({ call }: ControlPlane): Promise<Finding[]> {
  const sources = await call<Record<string, { source: string; pinned: boolean }>>('GET', '/api/settings/sources')
  const all = Object.entries(sources)
  const named = all.filter(([, { source, pinned }]) => pinned || source !== 'default')
  if (named.length === 0) return [ok('settings', 'Every default holds, and the file pins none.')]
  const counts = ['default', 'config', 'env', 'runtime', 'organization'].flatMap((wanted) => {
    const count = all.filter(([, { source }]) => source === wanted).length
    return count === 0 ? [] : [`${count} by ${wanted}`]
  })
  const pinned = named.filter(([, one]) => one.pinned).length
  const text = `${counts.join(', ')}${pinned === 0 ? '' : `; the file pins ${pinned}`}`
  return [ok('settings', `${text}. \`hookgate doctor --sources\` lists them.`)]
}

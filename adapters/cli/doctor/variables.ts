// Checks Node and the variables: unknown ones, ones that override the file, and ignored values.
import { variableName } from '../../../core/config/env.ts'
import { isKnownZone } from '../../../core/timing/calendar.ts'
import { LITERAL_SECRET, literalSecrets } from '../../node/loading/literal-secrets.ts'
import { closest } from '../closest.ts'
import { dotEnvOfProcess } from '../dot-env.ts'
import type { Surroundings } from '../place.ts'
import { unreadVariables } from '../unread-variables.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Equal to `engines` of package.json. */
const LEAST_NODE = [20, 19]

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = LEAST_NODE
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old.`, `Install Node ${LEAST_NODE.join('.')} or newer.`)
}

export function checkSecrets({ config, sources }: Surroundings): Finding[] {
  const members = literalSecrets(config, sources)
  if (members.length === 0) return []
  return [warn('secrets', `The file spells out ${members.join(', ')}.`, LITERAL_SECRET)]
}

/** The plugin of the budgets takes UTC for a zone that it does not know. */
export function checkZone({ env }: Surroundings): Finding[] {
  const zone = env.get<string>('BUDGET_TIMEZONE')
  if (isKnownZone(zone)) return []
  const meant = closest(zone, Intl.supportedValuesOf('timeZone'))
  return [
    warn(
      'time zone',
      `GATEWAY_BUDGET_TIMEZONE: there is no time zone ${zone.slice(0, 60)}. Budget windows are in UTC.`,
      meant === null ? 'Name a zone of the IANA list, such as Europe/Berlin.' : `Did you mean ${meant}?`,
    ),
  ]
}

export function checkVariables({ env, config }: Surroundings, environment: NodeJS.ProcessEnv): Finding[] {
  const inFile = new Map(Object.keys(config.options ?? {}).map((key) => [variableName(key), key]))
  if (config.profile !== undefined) inFile.set('PROFILE', 'profile')
  const dotEnv = dotEnvOfProcess()
  const findings: Finding[] = [
    ...(dotEnv === null
      ? []
      : [ok('variables', `${dotEnv.path} sets ${dotEnv.names.join(', ') || 'no variable that is not set already'}.`)]),
    ...unreadVariables(environment, env).map(({ name, suggested }) =>
      warn(
        'variables',
        `${name} is set, but the gateway does not know it.`,
        suggested === null ? 'Unset it; `hookgate env` lists what there is.' : `Did you mean ${suggested}?`,
      ),
    ),
    ...env.warnings.map((text) => warn('variables', text, 'Correct the value, or unset the variable.')),
  ]
  for (const { variable, source } of env.all()) {
    const name = `GATEWAY_${variable.name}`
    const key = inFile.get(variable.name)
    if (key !== undefined && (source === 'env' || source === 'flag'))
      findings.push(
        warn(
          'variables',
          `${name} comes from the ${source === 'env' ? 'environment' : 'command line'}, so \`${key}\` of the file does not count.`,
          `Take one of the two away.`,
        ),
      )
    if (variable.fallback && environment[name] !== undefined && environment[variable.fallback] !== undefined)
      findings.push(
        warn(
          'variables',
          `${name} counts, and ${variable.fallback} does not.`,
          `Unset ${variable.fallback}, if it is not for others.`,
        ),
      )
  }
  if (findings.length > 0) return findings
  // The data directory has a computed default with the lowest precedence.
  const set = env
    .all()
    .filter(({ variable, source }) => source !== 'default' && (source !== 'config' || inFile.has(variable.name)))
  return [ok('variables', set.map(({ variable, source }) => `${variable.name} (${source})`).join(', ') || 'Every default holds.')]
}

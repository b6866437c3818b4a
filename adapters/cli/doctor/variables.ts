// Node, and the variables: which ones nobody reads, which ones hide what the file says, which values were ignored.
import { variableName } from '../../../core/config/env.ts'
import { VARIABLES } from '../../../core/config/variables.ts'
import type { Surroundings } from '../place.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** package.json `engines`. */
const LEAST_NODE = [20, 19]

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = LEAST_NODE
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old.`, `Install Node ${LEAST_NODE.join('.')} or newer.`)
}

export function checkVariables({ env, config }: Surroundings, environment: NodeJS.ProcessEnv): Finding[] {
  const known = new Set(VARIABLES.map(({ name }) => `GATEWAY_${name}`))
  const strangers = Object.keys(environment).filter((name) => name.startsWith('GATEWAY_') && !known.has(name))
  const inFile = new Map(Object.keys(config.options ?? {}).map((key) => [variableName(key), key]))
  if (config.profile !== undefined) inFile.set('PROFILE', 'profile')
  const findings: Finding[] = [
    ...strangers.sort().map((name) => warn('variables', `${name} is set, and nobody reads it.`, near(name, known))),
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
  // The data directory has a computed default, of the lowest layer.
  const set = env
    .all()
    .filter(({ variable, source }) => source !== 'default' && (source !== 'config' || inFile.has(variable.name)))
  return [ok('variables', set.map(({ variable, source }) => `${variable.name} (${source})`).join(', ') || 'Every default holds.')]
}

/** The declared name that is one slip away. */
function near(name: string, known: ReadonlySet<string>): string {
  const guess = [...known].find((candidate) => distance(candidate, name) <= 2)
  return guess === undefined ? 'Unset it; `hookgate env` lists what there is.' : `Did you mean ${guess}?`
}

/** Levenshtein. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length] ?? 0
}

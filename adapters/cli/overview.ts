// `hookgate --help`: lists the commands by purpose, with examples.
import { VERSION } from '../../core/version.ts'
import { styled } from './output/table.ts'

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Run: ['init', 'serve', 'status', 'doctor', 'logs', 'simulate', 'bench'],
  Access: ['key', 'token', 'password', 'master-key', 'signup', 'org', 'user'],
  Models: ['provider', 'routes', 'pricing', 'price'],
  Money: ['budget', 'usage', 'report', 'savings', 'advisor', 'digest', 'eval', 'shadow', 'free-pool'],
  Configuration: ['plan', 'apply', 'plugins', 'hooks', 'env', 'export', 'import'],
  Operations: ['db', 'audit', 'webhook', 'responses'],
  Development: ['dev', 'plugin', 'filter', 'completion'],
}

const EXAMPLES = [
  ['hookgate init', 'first run: provider, key, request'],
  ['hookgate', 'serve on http://127.0.0.1:8788'],
  ['hookgate key create --label ci', 'create a client key'],
  ['hookgate provider add openai', 'add an account; the key is asked for'],
  ['hookgate help budget', 'help for a command'],
] as const

/** @param abouts one line for each command. */
export function overviewText(abouts: Readonly<Record<string, string>>): string {
  const named = Object.values(GROUPS).flat()
  const groups = { ...GROUPS, Other: Object.keys(abouts).filter((name) => !named.includes(name)) }
  const width = Math.max(...Object.keys(abouts).map((name) => name.length))
  const line = (name: string) => `  ${styled(name.padEnd(width), 'cyan')}  ${abouts[name]}`
  const sections = Object.entries(groups).flatMap(([title, names]) => {
    const known = names.filter((name) => Object.hasOwn(abouts, name))
    return known.length === 0 ? [] : [`${styled(title, 'bold')}\n${known.map(line).join('\n')}`]
  })
  const wide = Math.max(...EXAMPLES.map(([command]) => command.length))
  const examples = EXAMPLES.map(([command, about]) => `  ${styled(command.padEnd(wide), 'cyan')}  ${about}`)
  return [
    `hookgate ${VERSION}: an AI gateway whose every feature is a plugin on one typed pipeline.`,
    `${styled('Usage', 'bold')}\n  hookgate <command> [options]`,
    ...sections,
    `${styled('Examples', 'bold')}\n${examples.join('\n')}`,
    'hookgate <command> --help describes a command. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 changes (plan).',
  ].join('\n\n')
}

// From words to a command: finds it, loads it, runs it, and says how it ended.
import { type CommandDef, defineCommand, renderUsage, runCommand, type SubCommandsDef } from 'citty'
import { VERSION } from '../../core/version.ts'
import { failUsage, WrongUsage } from './fail.ts'
import { say } from './say.ts'

type Load = () => Promise<CommandDef>
type Group = {
  readonly about: string
  /** The action that runs without a subcommand. */
  readonly alone?: Load
  readonly commands: Readonly<Record<string, Load>>
}

// A command is loaded when it is asked for: most of them need a fraction of the gateway.
const COMMANDS: Readonly<Record<string, Load | Group>> = {
  serve: () => import('./serve.ts').then((module) => module.serveCommand),
  key: {
    about: 'Client keys, for callers of /v1.',
    commands: {
      create: () => import('./key.ts').then((module) => module.create),
      list: () => import('./key.ts').then((module) => module.listKeys),
      revoke: () => import('./key.ts').then((module) => module.revoke),
      rotate: () => import('./key.ts').then((module) => module.rotate),
    },
  },
  token: {
    about: 'Management tokens, for callers of /api.',
    commands: {
      create: () => import('./token.ts').then((module) => module.create),
      list: () => import('./token.ts').then((module) => module.listTokens),
      revoke: () => import('./token.ts').then((module) => module.revoke),
    },
  },
  provider: {
    about: 'Connections to providers.',
    commands: {
      add: () => import('./provider.ts').then((module) => module.add),
      list: () => import('./provider.ts').then((module) => module.listConnections),
      rm: () => import('./provider.ts').then((module) => module.rm),
      test: () => import('./provider.ts').then((module) => module.test),
    },
  },
  budget: {
    about: 'What may be spent.',
    commands: {
      list: () => import('./budget.ts').then((module) => module.listBudgets),
      create: () => import('./budget.ts').then((module) => module.create),
      increase: () => import('./budget.ts').then((module) => module.increase),
      delete: () => import('./budget.ts').then((module) => module.remove),
    },
  },
  usage: () => import('./usage.ts').then((module) => module.usageCommand),
  savings: {
    about: 'What was saved, and whether its receipts are whole.',
    alone: () => import('./savings.ts').then((module) => module.totals),
    commands: { verify: () => import('./savings.ts').then((module) => module.verify) },
  },
  report: () => import('./report.ts').then((module) => module.reportCommand),
  pricing: {
    about: 'Prices of models.',
    commands: {
      show: () => import('./price.ts').then((module) => module.showPrice),
      sync: () => import('./pricing.ts').then((module) => module.sync),
    },
  },
  /** Short for `pricing show`. */
  price: () => import('./price.ts').then((module) => module.priceCommand),
  logs: () => import('./logs.ts').then((module) => module.logsCommand),
  webhook: {
    about: 'Endpoints that events are sent to.',
    commands: {
      list: () => import('./webhook.ts').then((module) => module.listEndpoints),
      create: () => import('./webhook.ts').then((module) => module.create),
      test: () => import('./webhook.ts').then((module) => module.test),
    },
  },
  password: {
    about: 'The dashboard password.',
    commands: { hash: () => import('./password.ts').then((module) => module.hash) },
  },
  db: {
    about: 'The database.',
    commands: { migrate: () => import('./db.ts').then((module) => module.migrate) },
  },
  'master-key': {
    about: 'The master key.',
    commands: { rotate: () => import('./master-key.ts').then((module) => module.rotate) },
  },
  audit: {
    about: 'The audit log.',
    commands: { verify: () => import('./audit.ts').then((module) => module.verify) },
  },
  plugin: {
    about: 'Plugins of your own.',
    commands: { new: () => import('./plugin.ts').then((module) => module.create) },
  },
  filter: {
    about: 'WASM filters.',
    commands: { test: () => import('./filter.ts').then((module) => module.test) },
  },
  plan: () => import('./plan.ts').then((module) => module.plan),
  apply: () => import('./plan.ts').then((module) => module.apply),
  hooks: () => import('./hooks.ts').then((module) => module.hooksCommand),
  env: () => import('./env.ts').then((module) => module.envCommand),
  doctor: () => import('./doctor.ts').then((module) => module.doctor),
  simulate: () => import('./simulate.ts').then((module) => module.simulateCommand),
}

/** @returns the exit code: 0, 1 for a failure, 2 for a wrong command line. A server goes on running behind 0. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    if (args[0] === '--version' || args[0] === '-v') {
      console.log(VERSION)
      return 0
    }
    const { path, load, rest } = found(args)
    const command = await load()
    if (rest.includes('--help') || rest.includes('-h')) {
      const above = defineCommand({ meta: { name: path.slice(0, -1).join(' '), version: VERSION } })
      console.log(`${await renderUsage(command, path.length > 1 ? above : undefined)}\n`)
      return 0
    }
    const { result } = await runCommand(command, { rawArgs: rest })
    return typeof result === 'number' ? result : 0
  } catch (error) {
    say.error(error instanceof Error ? error.message : String(error))
    return error instanceof WrongUsage ? 2 : 1
  }
}

interface Found {
  /** From `hookgate` on. */
  readonly path: readonly string[]
  readonly load: Load
  readonly rest: string[]
}

/** `hookgate` alone, or with flags only, serves. @throws WrongUsage */
function found(args: readonly string[]): Found {
  const [first = 'serve', second, ...more] = args
  if (first === '--help' || first === '-h') return { path: ['hookgate'], load: overview, rest: ['--help'] }
  if (first.startsWith('-')) return { path: ['hookgate', 'serve'], load: COMMANDS.serve as Load, rest: [...args] }
  if (!Object.hasOwn(COMMANDS, first)) return failUsage(`There is no command \`${first}\`. ${known('', COMMANDS)}`)
  const entry = COMMANDS[first] as Load | Group
  if (typeof entry === 'function') return { path: ['hookgate', first], load: entry, rest: args.slice(1) }
  if (entry.alone !== undefined && (second === undefined || second.startsWith('-')))
    return { path: ['hookgate', first], load: entry.alone, rest: args.slice(1) }
  if (second === '--help' || second === '-h')
    return { path: ['hookgate', first], load: async () => groupCommand(first, entry), rest: ['--help'] }
  if (second === undefined) return failUsage(`\`${first}\` does what? ${known(`${first} `, entry.commands)}`)
  const load = Object.hasOwn(entry.commands, second) ? entry.commands[second] : undefined
  if (load === undefined) return failUsage(`There is no command \`${first} ${second}\`. ${known(`${first} `, entry.commands)}`)
  return { path: ['hookgate', first, second], load, rest: more }
}

function known(prefix: string, commands: object): string {
  const names = Object.keys(commands)
  return `There ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}; see \`hookgate ${prefix}--help\`.`
}

async function overview(): Promise<CommandDef> {
  return defineCommand({
    meta: {
      name: 'hookgate',
      version: VERSION,
      description: 'An AI gateway whose every feature is a plugin on one typed pipeline.',
    },
    subCommands: Object.fromEntries(
      Object.entries(COMMANDS).map(([name, entry]) => [name, typeof entry === 'function' ? entry : groupCommand(name, entry)]),
    ) satisfies SubCommandsDef,
  })
}

function groupCommand(name: string, { about, commands }: Group): CommandDef {
  return defineCommand({ meta: { name, description: about }, subCommands: { ...commands } })
}

// Which words a shell may offer: commands, subcommands and flags by path, and where values come from the database.
import type { ArgsDef, CommandDef } from 'citty'
import { FILTER_WORDS } from '../../../core/text/log-filter.ts'
import { COMMANDS, type Group, type Load } from '../commands.ts'
import type { ValueKind } from './values.ts'

export interface Words {
  /** For `''` the commands, for `key` its subcommands, for `key create` its flags. */
  readonly next: ReadonlyMap<string, readonly string[]>
  /** Values of `logs --key`, or of the operand of `price`. */
  readonly values: ReadonlyMap<string, ValueKind>
}

/** Flags whose value is in the database. `logs` takes labels of keys, all other commands their numbers. */
const FLAGS: Readonly<Record<string, ValueKind>> = {
  key: 'key-ids',
  'as-key': 'key-ids',
  model: 'models',
  models: 'models',
  'default-model': 'models',
  'virtual-model': 'virtual-models',
}

const OPERANDS: Readonly<Record<string, ValueKind>> = {
  'key revoke': 'key-ids',
  'key rotate': 'key-ids',
  'provider rm': 'connections',
  'provider test': 'connections',
  'pricing show': 'models',
  price: 'models',
}

/** Words that may follow besides flags. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  completion: ['bash', 'zsh', 'fish', 'powershell'],
  logs: ['tail', ...FILTER_WORDS.map((word) => `${word}:`)],
}

export async function allWords(): Promise<Words> {
  const next = new Map<string, readonly string[]>([['', Object.keys(COMMANDS)]])
  const values = new Map<string, ValueKind>(Object.entries(OPERANDS))
  const add = async (path: string, load: Load, before: readonly string[] = []): Promise<void> => {
    const flags = await flagsOf(load)
    next.set(path, [...before, ...(FIXED[path] ?? []), ...flags.map((flag) => `--${flag}`), '--help'])
    for (const flag of flags) {
      const kind = path === 'logs' && flag === 'key' ? 'keys' : Object.hasOwn(FLAGS, flag) ? FLAGS[flag] : undefined
      if (kind !== undefined) values.set(`${path} --${flag}`, kind)
    }
  }
  for (const [name, entry] of Object.entries(COMMANDS)) {
    if (typeof entry === 'function') await add(name, entry)
    else await addGroup(name, entry)
  }
  return { next, values }

  async function addGroup(name: string, { alone, commands }: Group): Promise<void> {
    if (alone === undefined) next.set(name, Object.keys(commands))
    else await add(name, alone, Object.keys(commands))
    for (const [sub, load] of Object.entries(commands)) await add(`${name} ${sub}`, load)
  }
}

async function flagsOf(load: Load): Promise<string[]> {
  const { args = {} } = (await load()) as CommandDef & { args?: ArgsDef }
  return Object.entries(args).flatMap(([name, { type }]) => (type === 'positional' ? [] : [name]))
}

// Runs one command. Unknown flags and missing operands are usage errors.
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'
import { ApiFailure, failUsage, refuseUnknownFlags, WrongUsage } from './fail.ts'
import { setLevel } from './output/table.ts'
import { EVERYWHERE, setManners } from './terminal.ts'

/** The configuration and data directory; every command that uses them has these flags. */
export const PLACE = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)', valueHint: 'file' },
  'data-dir': { type: 'string', description: 'Data directory (GATEWAY_DATA_DIR)', valueHint: 'directory' },
} as const

/** As PLACE, or a running server instead. For commands that need the routes of the control plane only. */
export const PLANE = {
  ...PLACE,
  url: { type: 'string', description: 'Work on this running server, not on the database', valueHint: 'url' },
  token: {
    type: 'string',
    description: 'With --url: a management token; `-` reads standard input or asks, `env:NAME` reads a variable',
    valueHint: 'token',
  },
} as const

export const JSON_FLAG = { json: { type: 'boolean', description: 'JSON for scripts' } } as const

export interface Action<T extends ArgsDef> {
  name: string
  description: string
  /** Operands are required, unless they say `required: false`. */
  args: T
  /** True: further operands may follow; `given._` has all. */
  rest?: boolean
  /** Maps a field of the API to the flag that sets it: `{ rate_limit_rpm: 'rpm' }`. */
  fields?: Readonly<Record<string, string>>
  /** Returns the exit code; undefined is 0. */
  run(given: ParsedArgs<T>): Promise<unknown>
}

export function action<const T extends ArgsDef>({
  name,
  description,
  args,
  rest = false,
  fields = {},
  run,
}: Action<T>): CommandDef {
  const command = defineCommand({
    meta: { name, description },
    args: { ...optionalOperands(args), ...EVERYWHERE } as unknown as T,
    async run({ args: given, rawArgs }) {
      refuseUnknownFlags(rawArgs, flagsOf(args), EVERYWHERE)
      refuseOperands(given, args, rest)
      const { quiet, wide } = given as { quiet?: boolean; wide?: boolean }
      setManners({ quiet: quiet === true, wide: wide === true, noInput: rawArgs.includes('--no-input') })
      setLevel(quiet === true ? WARNINGS : MESSAGES)
      try {
        return await run(given)
      } catch (error) {
        throw error instanceof ApiFailure ? inWordsOfFlags(error, fields) : error
      }
    },
  })
  return command as unknown as CommandDef
}

/** Levels of consola. */
const WARNINGS = 1
const MESSAGES = 3

/** For a missing operand citty itself would exit with 1. */
function optionalOperands(args: ArgsDef): ArgsDef {
  return Object.fromEntries(
    Object.entries(args).map(([name, arg]) => [name, arg.type === 'positional' ? { ...arg, required: false } : arg]),
  )
}

function flagsOf(args: ArgsDef): ArgsDef {
  return Object.fromEntries(Object.entries(args).filter(([, { type }]) => type !== 'positional'))
}

function refuseOperands(
  given: { readonly _: readonly string[] } & Readonly<Record<string, unknown>>,
  args: ArgsDef,
  rest: boolean,
): void {
  const operands = Object.keys(args).filter((name) => args[name]?.type === 'positional')
  const missing = operands.find(
    (name) => args[name]?.required !== false && (typeof given[name] !== 'string' || given[name] === ''),
  )
  if (missing !== undefined) failUsage(`<${missing}> is missing: ${args[missing]?.description ?? missing}.`)
  const extra = rest ? undefined : given._[operands.length]
  if (extra !== undefined) failUsage(`\`${extra.slice(0, 60)}\` is one word too many.`)
  for (const [name, { type }] of Object.entries(args))
    if (type === 'string' && given[name] !== undefined && (given[name] === '' || typeof given[name] !== 'string'))
      failUsage(`\`--${name}\` needs a value.`)
}

/** When the API refuses a field that came from a flag, the error names the flag and counts as wrong usage. */
function inWordsOfFlags(failure: ApiFailure, fields: Readonly<Record<string, string>>): Error {
  const { status, message, param } = failure
  const field = param?.split('.')[0] ?? ''
  const flag = fields[field]
  if (status !== 400 || flag === undefined) return failure
  return new WrongUsage([`${param}`, field].reduce((text, name) => text.replaceAll(`\`${name}\``, `\`--${flag}\``), message))
}

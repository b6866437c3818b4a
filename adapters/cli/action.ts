// Runs one command. Unknown flags and missing operands are usage errors.
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'
import { ApiFailure, failUsage, refuseUnknownFlags, WrongUsage } from './fail.ts'

/** The configuration and data directory; every command that uses them has these flags. */
export const PLACE = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)', valueHint: 'file' },
  'data-dir': { type: 'string', description: 'Data directory (GATEWAY_DATA_DIR)', valueHint: 'directory' },
} as const

export const JSON_FLAG = { json: { type: 'boolean', description: 'JSON for scripts' } } as const

export interface Action<T extends ArgsDef> {
  name: string
  description: string
  /** All operands are required. */
  args: T
  /** Maps a field of the API to the flag that sets it: `{ rate_limit_rpm: 'rpm' }`. */
  fields?: Readonly<Record<string, string>>
  /** Returns the exit code; undefined is 0. */
  run(given: ParsedArgs<T>): Promise<unknown>
}

export function action<const T extends ArgsDef>({ name, description, args, fields = {}, run }: Action<T>): CommandDef {
  const command = defineCommand({
    meta: { name, description },
    args: optionalOperands(args) as T,
    async run({ args: given, rawArgs }) {
      refuseUnknownFlags(rawArgs, flagsOf(args))
      refuseOperands(given, args)
      try {
        return await run(given)
      } catch (error) {
        throw error instanceof ApiFailure ? inWordsOfFlags(error, fields) : error
      }
    },
  })
  return command as unknown as CommandDef
}

/** For a missing operand citty itself would exit with 1. */
function optionalOperands(args: ArgsDef): ArgsDef {
  return Object.fromEntries(
    Object.entries(args).map(([name, arg]) => [name, arg.type === 'positional' ? { ...arg, required: false } : arg]),
  )
}

function flagsOf(args: ArgsDef): ArgsDef {
  return Object.fromEntries(Object.entries(args).filter(([, { type }]) => type !== 'positional'))
}

function refuseOperands(given: { readonly _: readonly string[] } & Readonly<Record<string, unknown>>, args: ArgsDef): void {
  const operands = Object.keys(args).filter((name) => args[name]?.type === 'positional')
  const missing = operands.find((name) => typeof given[name] !== 'string' || given[name] === '')
  if (missing !== undefined) failUsage(`<${missing}> is missing: ${args[missing]?.description ?? missing}.`)
  const extra = given._[operands.length]
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

// Reports failures of the command line: wrong usage exits with 2, any other failure with 1, each with its reason on stderr.
import { closest } from './closest.ts'

export class WrongUsage extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WrongUsage'
  }
}

/** @throws WrongUsage */
export function failUsage(message: string): never {
  throw new WrongUsage(message)
}

/**
 * Refuses an unknown flag as a typing error: `--prot 9000` must not serve on 8788, and `-json` must not print a table. @throws WrongUsage
 */
export function refuseUnknownFlags(
  rawArgs: readonly string[],
  known: Readonly<Record<string, { readonly type?: string }>>,
): void {
  const unknown = rawArgs.find((arg, index) => {
    if (arg.startsWith('--')) return !Object.hasOwn(known, flagName(arg))
    // There are no short flags. The argument after a flag with a value is that value.
    return arg.length > 1 && arg.startsWith('-') && !wantsValue(rawArgs[index - 1] ?? '', known)
  })
  if (unknown === undefined) return
  const names = Object.keys(known).map((name) => `--${name}`)
  const flag = unknown.startsWith('--') ? `--${flagName(unknown)}` : unknown.slice(0, 60)
  const suggested = closest(flag, names)
  failUsage(
    `There is no flag \`${flag}\`. ${suggested === null ? `There are ${names.join(', ')}.` : `Did you mean \`${suggested}\`?`}`,
  )
}

function wantsValue(arg: string, known: Readonly<Record<string, { readonly type?: string }>>): boolean {
  return arg.startsWith('--') && !arg.includes('=') && known[flagName(arg)]?.type === 'string'
}

function flagName(arg: string): string {
  return arg.slice(2).split('=', 1)[0] as string
}

// A refusal by the control plane, with its own message.
export class ApiFailure extends Error {
  readonly status: number
  /** The wrong field, dotted. */
  readonly param: string | null

  constructor(status: number, message: string, param: string | null) {
    super(message)
    this.name = 'ApiFailure'
    this.status = status
    this.param = param
  }
}

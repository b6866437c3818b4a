// Reports failures of the command line: wrong usage exits with 2, any other failure with 1, each with its reason on stderr.
import { closest } from './closest.ts'
import { linesOf } from './reasons.ts'

export class WrongUsage extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WrongUsage'
  }
}

/** A failure that knows its reason and the command that fixes it. */
export class CommandFailure extends Error {
  readonly why: string
  readonly fix: string

  constructor({ what, why, fix }: { what: string; why: string; fix: string }) {
    super(what)
    this.why = why
    this.fix = fix
  }
}

/** The person ended a question with Ctrl-C or Ctrl-D: exit 130, without a message. */
export class Interrupted extends Error {}

/** @throws WrongUsage */
export function failUsage(message: string): never {
  throw new WrongUsage(message)
}

/**
 * Refuses an unknown flag as a typing error: `--prot 9000` must not serve on 8788, and `-json` must not print a table. @throws WrongUsage
 */
export function refuseUnknownFlags(
  rawArgs: readonly string[],
  own: Readonly<Record<string, { readonly type?: string }>>,
  everywhere: Readonly<Record<string, { readonly type?: string }>> = {},
): void {
  const known = { ...own, ...everywhere }
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
    `There is no flag \`${flag}\`. ${
      suggested === null
        ? `There are ${Object.keys(own)
            .map((name) => `--${name}`)
            .join(', ')}.`
        : `Did you mean \`${suggested}\`?`
    }`,
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

/** Returns the failure as what, why, and the command that fixes it. @param path the command, `hookgate` first. */
export function threeLines(error: unknown, path: readonly string[]): { what: string; why: string; fix: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof CommandFailure) return { what: message, why: error.why, fix: error.fix }
  // A message with a command of ours names the fix already.
  const named = /`(hookgate [a-z-]+[^`]*)`/.exec(message)?.[1]
  if (error instanceof WrongUsage)
    return { what: message, why: 'The command line is wrong; nothing was done.', fix: named ?? `${path.join(' ')} --help` }
  if (error instanceof ApiFailure) {
    const { why, fix } = ofStatus(error.status, path)
    return { what: message, why, fix: named ?? fix }
  }
  const [, said = message, command] = /^(.*) Run: (.+)$/s.exec(message) ?? []
  const { what, why, fix } = linesOf(error, said, path)
  return { what, why, fix: command ?? named ?? fix ?? FIXES[path[1] ?? ''] ?? 'hookgate doctor' }
}

/** Commands that show what another one failed on, where that is not `doctor`. */
const FIXES: Readonly<Record<string, string>> = {
  apply: 'hookgate plan',
  price: 'hookgate price --help',
  simulate: 'hookgate simulate --help',
}

function ofStatus(status: number, path: readonly string[]): { why: string; fix: string } {
  const why = `The control plane refused it with ${status}.`
  const [program = 'hookgate', group = ''] = path
  if (status === 401 || status === 403) return { why, fix: 'hookgate token create, then pass it with --token' }
  if (status === 404 && path.length > 2) return { why, fix: `${program} ${group} list` }
  if (status === 404) return { why, fix: 'hookgate status' }
  if (status >= 500) return { why, fix: 'hookgate doctor' }
  if (status === 409 && group === 'signup') return { why, fix: `${program} user list` }
  return { why, fix: `${path.join(' ')} --help` }
}

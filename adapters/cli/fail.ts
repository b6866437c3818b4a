// Two ways to end early: a boot that fails says why in one paragraph and ends with 1, a wrong command line with 2.
import { consola } from 'consola'

export function failBoot(error: unknown): never {
  consola.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

/** A flag that nobody reads is a typing error: `--prot 9000` must not serve on 8788. */
export function refuseUnknownFlags(rawArgs: readonly string[], known: Readonly<Record<string, unknown>>): void {
  const unknown = rawArgs.find((arg) => arg.startsWith('--') && !Object.hasOwn(known, flagName(arg)))
  if (unknown === undefined) return
  const names = Object.keys(known).map((name) => `--${name}`)
  failUsage(`There is no flag \`--${flagName(unknown)}\`. There are ${names.join(', ')}.`)
}

export function failUsage(message: string): never {
  consola.error(message)
  process.exit(2)
}

function flagName(arg: string): string {
  return arg.slice(2).split('=', 1)[0] as string
}

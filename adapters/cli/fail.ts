// A wrong command line ends with 2, whatever else fails with 1, each with its reason on stderr (command-line.ts).

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
 * A flag that nobody reads is a typing error: `--prot 9000` must not serve on 8788.
 * @throws WrongUsage
 */
export function refuseUnknownFlags(rawArgs: readonly string[], known: Readonly<Record<string, unknown>>): void {
  const unknown = rawArgs.find((arg) => arg.startsWith('--') && !Object.hasOwn(known, flagName(arg)))
  if (unknown === undefined) return
  const names = Object.keys(known).map((name) => `--${name}`)
  failUsage(`There is no flag \`--${flagName(unknown)}\`. There are ${names.join(', ')}.`)
}

function flagName(arg: string): string {
  return arg.slice(2).split('=', 1)[0] as string
}

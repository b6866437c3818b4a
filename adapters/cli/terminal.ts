// How this command may speak: `--quiet`, `--wide` and `--no-input`, which every command takes. One command line runs at a time.

export const EVERYWHERE = {
  quiet: { type: 'boolean', description: 'Print results, warnings and failures only' },
  wide: { type: 'boolean', description: 'Do not shorten columns to the width of the terminal' },
  'no-input': { type: 'boolean', description: 'Never ask; a missing value is a failure' },
} as const

export interface Manners {
  readonly quiet: boolean
  readonly wide: boolean
  readonly noInput: boolean
}

const manners = { quiet: false, wide: false, noInput: false }

export function setManners(given: Manners): void {
  Object.assign(manners, given)
}

export function isWide(): boolean {
  return manners.wide
}

export function isQuiet(): boolean {
  return manners.quiet
}

/** True: there is a person who can answer a question. */
export function mayAsk(): boolean {
  return !manners.noInput && process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** True: bars and spinners may be drawn on stderr. */
export function mayDraw(): boolean {
  return !manners.quiet && process.stderr.isTTY === true && process.env.TERM !== 'dumb'
}

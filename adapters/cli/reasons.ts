// Finds what, why and fix in the message of a failure that says them in one sentence, so that every failure prints three lines.

export interface Lines {
  readonly what: string
  readonly why: string
  /** null: the command decides. */
  readonly fix: string | null
}

/** @param path the command, `hookgate` first. */
export function linesOf(error: unknown, message: string, path: readonly string[]): Lines {
  const help = `${path.join(' ')} --help`
  const known = ofFile(error, message, help) ?? ofPlace(message, path)
  if (known !== null) return known
  const { what, why } = parted(message)
  return { what, why: rootOf(error, message) ?? why ?? standing(what), fix: null }
}

/** A failure says first what is wrong, and then why: in a second sentence, or behind a colon. A list of failures stays whole. */
function parted(message: string): { what: string; why: string | null } {
  const lines = message.includes('\n')
  const [, first, second] = (!lines && /^(.+?[.!?]) (?=[A-Z`])(.+)$/.exec(message)) || []
  if (first !== undefined && second !== undefined) return { what: first, why: second }
  // A single word before the colon is a name, such as that of a variable.
  const [, clause = '', reason = ''] = /^((?:[\w.`-]+: )?[^:\n]* [^:\n]*): (.+)$/s.exec(message) ?? []
  return VERB.test(clause)
    ? { what: `${clause}.`, why: sentence(reason.replaceAll(/\s*\n\s*/g, ' ')) }
    : { what: message, why: null }
}

/** Without one the words before the colon are a place, such as `Line 3 of the script`. */
const VERB = /\b(?:is|are|was|were|has|have|does|cannot|could|names|lacks|ended|failed)\b/

/** The first cause. Wrappers repeat the message of the error below them. */
function rootOf(error: unknown, message: string): string | null {
  let root = error
  for (let depth = 0; depth < MAX_CAUSES && root instanceof Error && root.cause instanceof Error; depth++) root = root.cause
  return root instanceof Error && root !== error && !message.includes(root.message) ? root.message : null
}

const MAX_CAUSES = 8

function standing(what: string): string {
  if (/^GATEWAY_[A-Z0-9_]+:/.test(what)) return 'The environment, `.env` or a flag sets it to a value that it does not take.'
  if (/^[a-z]\w*(?:\.[\w-]+)+:/.test(what)) return 'The configuration file says so, and the gateway does not take it.'
  return 'The command knows no further reason.'
}

/** Words for codes of the system. */
const CODES: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file or folder.',
  EACCES: 'This user may not do that there.',
  EPERM: 'This user may not do that there.',
  EISDIR: 'It is a folder.',
  ENOTDIR: 'A part of its path is a file.',
  ENOSPC: 'The disk is full.',
  EROFS: 'The disk takes no changes.',
}

function ofFile(error: unknown, message: string, help: string): Lines | null {
  const [, what, named] = /^(.*) (?:\(([A-Z]+)\)\.|cannot be read: .*)$/.exec(message) ?? []
  const { code = '', path } = (error ?? {}) as NodeJS.ErrnoException
  const why = CODES[named ?? /: (E[A-Z]+): /.exec(message)?.[1] ?? code]
  if (why === undefined) return null
  if (what !== undefined) return { what: named === undefined ? `${what} cannot be read.` : `${what}.`, why, fix: help }
  return path === undefined ? null : { what: `${path} cannot be opened.`, why, fix: help }
}

function ofPlace(message: string, path: readonly string[]): Lines | null {
  const [, address] = /^Cannot listen on (\S+): the port is in use/.exec(message) ?? []
  if (address !== undefined)
    return {
      what: `Cannot listen on ${address}.`,
      why: 'The port is in use: another process listens on it.',
      fix: 'hookgate serve --port 0',
    }
  const [, missing, origin] =
    /^(The configuration file .* does not exist) \((GATEWAY_CONFIG or --config)\)\.$/.exec(message) ?? []
  return missing === undefined
    ? null
    : { what: `${missing}.`, why: `${origin} names it.`, fix: `${path.join(' ')} --config <a file that exists>` }
}

function sentence(text: string): string {
  return /^[a-z]+[ ,]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
}

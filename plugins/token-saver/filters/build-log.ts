// Shortens output of compilers and linters: errors and warnings with their details, each once, and the result.
import type { Filter } from './filter.ts'
import { leftOut } from './lines.ts'

const LAST = 20
/** Maximum lines below a message that belong to it. */
const BLOCK = 12
const FINDING: readonly RegExp[] = [
  /^\S.{0,400}?:\d+(?::\d+)?: (?:fatal )?(?:error|warning)\b/,
  /^\S.{0,400}?\(\d+,\d+\): (?:error|warning) /,
  /^(?:error|warning)(?:\[\w+\])?: /,
  /^\s+\d+:\d+\s+(?:error|warning)\s/,
  /^\s*(?:ERROR in|ERROR:|npm ERR!|\[ERROR\]|FAILED:) ?/,
  /\berror TS\d+:/,
  /^make(?:\[\d+\])?: \*\*\*/,
  /^(?:BUILD FAILED|FAILURE: Build failed)/,
]
const SUMMARY: readonly RegExp[] = [
  /^error: could not compile/,
  /^(?:Found \d+ errors?|\d+ errors?(?: and \d+ warnings?)? generated)/,
  /^\s*✖ \d+ problems?/,
  /^make(?:\[\d+\])?: \*\*\*/,
  /^BUILD FAILED/,
]
/** The file that a linter's findings below it belong to. */
const FILE = /^(?:\/|[A-Za-z]:\\|\.{0,2}\/?[\w@-]+\/)\S*$/

export const buildLog: Filter = {
  id: 'build-log',
  title: 'Build and lint logs',
  description: 'Keeps errors and warnings with the lines below them, repeated ones once, and the last twenty lines.',
  detects: 'Messages of compilers and linters: `file:line: error`, `error TS…`, `error[E…]`, `npm ERR!`, `make: ***`.',
  limits: { last_lines: LAST, block_lines: BLOCK },
  early: ({ head, tail }) => [...head, ...tail].some((line) => SUMMARY.some((pattern) => pattern.test(line))),
  detect: ({ head, tail }) => [...head, ...tail].some(isFinding),
  shorten(lines) {
    const out: string[] = []
    const seen = new Set<string>()
    const end = Math.max(0, lines.length - LAST)
    let left = 0
    let block = 0
    let repeated = false
    for (const line of lines.slice(0, end)) {
      if (isFinding(line)) {
        repeated = seen.has(line)
        seen.add(line)
        block = BLOCK
      } else if (FILE.test(line.trim())) {
        block = 1
        repeated = false
      } else if (line.trim() === '') block = 0
      if (block > 0 && !repeated) {
        if (left > 0) out.push(leftOut(left))
        left = 0
        out.push(line)
      } else if (line.trim() !== '') left++
      block--
    }
    if (left > 0) out.push(leftOut(left))
    return [...out, ...lines.slice(end)]
  },
}

function isFinding(line: string): boolean {
  return FINDING.some((pattern) => pattern.test(line))
}

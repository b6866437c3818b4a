// Shortens matches of a search: grouped by file, the first ten of each.
import type { Filter } from './filter.ts'
import { leftOut } from './lines.ts'

const MATCHES = 10
const WIDTH = 300
const OTHERS = 20
const NAME = /[\\/]|\.[A-Za-z]\w*$|^[A-Z][a-z]*file$/
const MATCH = /^([^\s:][^:]*(?::[\\/][^:]*)?):(\d+):(.*)$/

export const grep: Filter = {
  id: 'grep',
  title: 'grep',
  description: 'Groups matches by file, with up to ten of each file and a count of the others.',
  detects: '`path:line:` in one of the first five lines.',
  limits: { matches_per_file: MATCHES, line_width: WIDTH },
  detect: ({ head }) => head.slice(0, 5).some((line) => matchOf(line) !== null),
  shorten(lines) {
    const files = new Map<string, string[]>()
    const others: string[] = []
    for (const line of lines) {
      const match = matchOf(line)
      if (match === null) {
        if (line.trim() !== '' && line !== '--') others.push(line)
        continue
      }
      const { path, number, text } = match
      const shown = text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text
      const matches = files.get(path)
      if (matches === undefined) files.set(path, [`${number}:${shown}`])
      else matches.push(`${number}:${shown}`)
    }
    // Too many other lines: it is not the output of a search.
    if (others.length > lines.length / 3) return null
    const out: string[] = []
    for (const [path, matches] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      out.push(`${path} (${matches.length})`, ...matches.slice(0, MATCHES))
      if (matches.length > MATCHES) out.push(leftOut(matches.length - MATCHES, 'match').replace('matchs', 'matches'))
    }
    out.push(...others.slice(0, OTHERS))
    return others.length > OTHERS ? [...out, leftOut(others.length - OTHERS)] : out
  },
}

/** Times of day and addresses have colons and numbers too. */
function matchOf(line: string): { path: string; number: string; text: string } | null {
  const [, path = '', number = '', text = ''] = MATCH.exec(line) ?? []
  return NAME.test(path) ? { path, number, text } : null
}

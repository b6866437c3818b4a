// Shortens repetitive logs: consecutive equal lines become one with a count.
import type { Filter } from './filter.ts'
import { headAndTail, squeezed } from './lines.ts'

const MAX_LINES = 2000
const LEAST = 5
/** Two consecutive equal lines also occur in code. */
const RUN = 3

export const dedupLog: Filter = {
  id: 'dedup-log',
  title: 'Repetitive logs',
  description: 'Three or more equal lines in a row become one with a count.',
  detects: 'At least five lines with a run of three equal ones, or more than 2,000 lines.',
  limits: { max_lines: MAX_LINES, min_run: RUN },
  detect: ({ lines }) => lines.length > MAX_LINES || (lines.length >= LEAST && hasRun(lines)),
  shorten(lines) {
    const out: string[] = []
    for (let at = 0; at < lines.length; ) {
      const line = lines[at] as string
      let end = at + 1
      while (lines[end] === line) end++
      if (end - at >= RUN && line.trim() !== '') out.push(`${line} (×${end - at})`)
      else for (; at < end; at++) out.push(line)
      at = end
    }
    return headAndTail(squeezed(out), MAX_LINES * 0.75, MAX_LINES * 0.25)
  },
}

function hasRun(lines: readonly string[]): boolean {
  return lines.some((line, at) => line.trim() !== '' && line === lines[at + 1] && line === lines[at + 2])
}

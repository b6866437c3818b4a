// Shortens long files with line numbers to their beginning and end. Off by default, because it hides text that an agent requested.
import type { Filter } from './filter.ts'
import { headAndTail } from './lines.ts'

const HEAD = 120
const TAIL = 60
const LEAST = 250
const NUMBERED = /^\s*\d+\s*(?:\||→|\t)/

export const readNumbered: Filter = {
  id: 'read-numbered',
  title: 'Files with line numbers',
  description: 'Keeps the first 120 and the last 60 lines.',
  detects: 'At least 250 lines, most of the first hundred numbered.',
  limits: { min_lines: LEAST, head: HEAD, tail: TAIL },
  detect: ({ lines }) => lines.length >= LEAST && lines.slice(0, 100).filter((line) => NUMBERED.test(line)).length >= 70,
  shorten: (lines) => headAndTail(lines, HEAD, TAIL),
}

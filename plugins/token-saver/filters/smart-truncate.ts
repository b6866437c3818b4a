// Anything long: the beginning, the end, and what speaks of failures. Off by default: it hides what an agent asked for.
import type { Filter } from './filter.ts'
import { headAndTail } from './lines.ts'

const HEAD = 120
const TAIL = 60
const LEAST = 250

export const smartTruncate: Filter = {
  id: 'smart-truncate',
  title: 'Long texts',
  description: 'Keeps the first 120 and the last 60 lines, and those between that speak of failures.',
  detects: 'At least 250 lines.',
  limits: { min_lines: LEAST, head: HEAD, tail: TAIL },
  detect: ({ lines }) => lines.length >= LEAST,
  shorten: (lines) => headAndTail(lines, HEAD, TAIL),
}

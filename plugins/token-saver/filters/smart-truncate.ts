// Shortens any long output to its beginning, its end and the lines that report failures. Off by default, because it hides text that an
// agent requested.
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

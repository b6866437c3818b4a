// Shortens lists of paths, one per line, as find and globs print them.
import type { Filter } from './filter.ts'
import { byDirectory, isPath, PATH_LIMITS } from './path-list.ts'

export const find: Filter = {
  id: 'find',
  title: 'find',
  description: 'Groups paths by directory, with up to ten names of each and twenty directories.',
  detects: 'At least three lines, all of them paths.',
  limits: PATH_LIMITS,
  detect: ({ head }) => head.length >= 3 && head.every(isPath),
  shorten: (lines) => (lines.every((line) => line.trim() === '' || isPath(line)) ? byDirectory(lines) : null),
}

// Shortens lists of files from the search tools of coding agents.
import type { Filter } from './filter.ts'
import { byDirectory, isPath, PATH_LIMITS } from './path-list.ts'

const HEADER = /^Result of search in .*\(total \d+ files?\)/

export const searchList: Filter = {
  id: 'search-list',
  title: 'Search results',
  description: 'Keeps the heading and groups the files by directory.',
  detects: 'A heading `Result of search in … (total N files)`.',
  limits: PATH_LIMITS,
  detect: ({ head }) => HEADER.test(head[0] ?? ''),
  shorten(lines) {
    const start = lines.findIndex((line) => HEADER.test(line))
    const files = lines.slice(start + 1).map((line) => line.trim().replace(/^- /, ''))
    if (files.some((line) => line !== '' && !isPath(line))) return null
    return [...lines.slice(0, start + 1), ...byDirectory(files)]
  },
}

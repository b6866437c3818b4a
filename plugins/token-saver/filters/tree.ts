// Shortens trees of box-drawing characters: uses indentation.
import type { Filter } from './filter.ts'
import { leftOut } from './lines.ts'

const MAX_LINES = 200
const BRANCH = /^((?:[│|][\s\u00a0]{3}|[\s\u00a0]{4})*)(?:├──|└──|\|--|`--)[\s\u00a0](.*)$/
const SUMMARY = /^\d+ director(?:y|ies)(?:, \d+ files?)?$/

export const tree: Filter = {
  id: 'tree',
  title: 'tree',
  description: 'Indents by two spaces instead of drawing, without the summary.',
  detects: 'At least three lines that start with branches.',
  limits: { max_lines: MAX_LINES },
  detect: ({ head }) => head.filter((line) => BRANCH.test(line)).length >= 3,
  shorten(lines) {
    const out: string[] = []
    for (const line of lines) {
      const branch = BRANCH.exec(line)
      if (branch !== null) out.push(`${'  '.repeat((branch[1] as string).length / 4 + 1)}${branch[2]}`)
      else if (line.trim() !== '' && !SUMMARY.test(line.trim())) out.push(line)
    }
    return out.length > MAX_LINES ? [...out.slice(0, MAX_LINES), leftOut(out.length - MAX_LINES)] : out
  },
}

// Shortens the state of a work tree: the branch, and the number of files in each state with their first names.
import type { Filter } from './filter.ts'
import { someOf } from './lines.ts'

const NAMES = 10
/** At least one of the two letters is set. */
const PORCELAIN = /^(?:[MTADRCU?!][ MTADRCU?!]| [MTADRCU]|##) \S/
const SECTIONS: readonly (readonly [string, string])[] = [
  ['Changes to be committed:', 'staged'],
  ['Changes not staged for commit:', 'not staged'],
  ['Untracked files:', 'untracked'],
  ['Unmerged paths:', 'conflicts'],
  ['Ignored files:', 'ignored'],
]

export const gitStatus: Filter = {
  id: 'git-status',
  title: 'git status',
  description: 'The branch, then how many files are staged, changed, untracked or in conflict, with up to ten names of each.',
  detects: '`On branch`, the headings of its sections, or three lines of which most are in porcelain format.',
  limits: { names: NAMES },
  detect: ({ head }) =>
    head.some((line) => /^(?:On branch |HEAD detached )/.test(line) || SECTIONS.some(([heading]) => line === heading)) ||
    (head.length >= 3 && head.filter((line) => PORCELAIN.test(line)).length >= head.length * 0.6),
  shorten(lines) {
    const said: string[] = []
    const groups = new Map<string, string[]>()
    const add = (group: string, name: string): void => {
      const names = groups.get(group)
      if (names === undefined) groups.set(group, [name])
      else names.push(name)
    }
    let section: string | null = null
    for (const line of lines) {
      const heading = SECTIONS.find(([text]) => text === line)
      if (heading !== undefined) section = heading[1]
      else if (line.startsWith('## ')) said.push(line.slice(3))
      else if (section !== null && /^\s+\S/.test(line)) {
        // Skips hints such as `  (use "git add" …)`.
        if (!line.trim().startsWith('(use ')) add(section, line.trim().replace(/^modified: +/, ''))
      } else if (PORCELAIN.test(line)) porcelain(line, add)
      else if (line.trim() !== '' && !line.trim().startsWith('(use ')) said.push(line.replace(/ \(use ".*$/, ''))
    }
    if (groups.size === 0) return null
    return [...said, ...[...groups].map(([group, names]) => `${group} (${names.length}): ${someOf(names, NAMES)}`)]
  },
}

function porcelain(line: string, add: (group: string, name: string) => void): void {
  const [staged, changed] = [line[0], line[1]]
  const name = line.slice(3)
  if (staged === '?') return add('untracked', name)
  if (staged === '!') return add('ignored', name)
  if (staged === 'U' || changed === 'U' || line.startsWith('AA') || line.startsWith('DD')) return add('conflicts', name)
  if (staged !== ' ') add('staged', `${staged} ${name}`)
  if (changed !== ' ') add('not staged', `${changed} ${name}`)
}

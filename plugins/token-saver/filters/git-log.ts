// Shortens a git history to one line per commit.
import type { Filter } from './filter.ts'
import { leftOut } from './lines.ts'

const COMMITS = 50
const COMMIT = /^commit ([0-9a-f]{7,64})\b(.*)$/

export const gitLog: Filter = {
  id: 'git-log',
  title: 'git log',
  description: 'One line for each commit: short hash, date, author and subject.',
  detects: 'Blocks that start with `commit` and a hash.',
  limits: { commits: COMMITS },
  detect: ({ head }) => COMMIT.test(head[0] ?? ''),
  shorten(lines) {
    const commits: { hash: string; refs: string; author: string; date: string; subject: string }[] = []
    for (const line of lines) {
      const start = COMMIT.exec(line)
      const commit = commits.at(-1)
      if (start !== null) {
        commits.push({ hash: (start[1] as string).slice(0, 9), refs: start[2] as string, author: '', date: '', subject: '' })
      } else if (commit === undefined || line.trim() === '') continue
      else if (line.startsWith('Author:')) commit.author = (line.slice(7).split(' <', 1)[0] as string).trim()
      else if (/^(?:Author)?Date:/.test(line)) commit.date = line.slice(line.indexOf(':') + 1).trim()
      else if (/^[A-Z]\w*: /.test(line)) continue
      else if (!line.startsWith('    ')) return null
      else if (commit.subject === '') commit.subject = line.trim()
    }
    if (commits.length < 2) return null
    const shown = commits
      .slice(0, COMMITS)
      .map(({ hash, refs, author, date, subject }) => `${hash}${refs} ${date} ${author}: ${subject}`)
    return commits.length > COMMITS ? [...shown, leftOut(commits.length - COMMITS, 'commit')] : shown
  },
}

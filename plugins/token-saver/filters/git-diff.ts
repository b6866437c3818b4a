// Shortens diffs: every file with its counts; long hunks keep only the changes and the adjacent lines.
import type { Filter } from './filter.ts'
import { leftOut } from './lines.ts'

const HUNK_LINES = 100
const MAX_LINES = 500
const CONTEXT = 3
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/
/** Header lines of a file in a diff. */
const FACT = /^(?:new file|deleted file|old mode|new mode|rename |copy |similarity |Binary files )/

interface DiffFile {
  title: string
  added: number
  removed: number
  facts: string[]
  hunks: { header: string; lines: string[] }[]
}

export const gitDiff: Filter = {
  id: 'git-diff',
  title: 'git diff',
  description:
    'Names every file with its counts of added and removed lines; long hunks keep their changes and three lines around them.',
  detects: 'A line that starts with `diff --git` or `@@ -`.',
  limits: { hunk_lines: HUNK_LINES, max_lines: MAX_LINES },
  detect: ({ head }) => head.some((line) => line.startsWith('diff --git ') || HUNK.test(line)),
  shorten(lines) {
    const { before, files } = parse(lines)
    if (files.length === 0) return null
    const out = [...before]
    for (const { title, added, removed, facts, hunks } of files) {
      out.push(`${title} (+${added} −${removed})`, ...facts)
      let cut = 0
      for (const hunk of hunks) {
        const kept = hunk.lines.length > HUNK_LINES ? aroundChanges(hunk.lines) : hunk.lines
        const room = Math.max(0, Math.min(HUNK_LINES, MAX_LINES - out.length))
        if (room === 0) {
          cut += hunk.lines.length
          continue
        }
        out.push(hunk.header, ...kept.slice(0, room))
        if (kept.length > room) out.push(leftOut(kept.length - room))
      }
      if (cut > 0) out.push(leftOut(cut))
    }
    return out
  },
}

function parse(lines: readonly string[]): { before: string[]; files: DiffFile[] } {
  const before: string[] = []
  const files: DiffFile[] = []
  let old = 0
  let fresh = 0
  for (const line of lines) {
    const file = files.at(-1)
    const hunk = file?.hunks.at(-1)
    if (file !== undefined && hunk !== undefined && (old > 0 || fresh > 0 || line.startsWith('\\'))) {
      if (line.startsWith('+')) file.added++
      if (line.startsWith('-')) file.removed++
      if (!line.startsWith('+') && !line.startsWith('\\')) old--
      if (!line.startsWith('-') && !line.startsWith('\\')) fresh--
      hunk.lines.push(line)
      continue
    }
    const counts = HUNK.exec(line)
    if (line.startsWith('diff --git ')) files.push(fileOf(titleOf(line)))
    else if (counts !== null) {
      if (file === undefined) files.push(fileOf('diff'))
      files.at(-1)?.hunks.push({ header: line, lines: [] })
      old = Number(counts[1] ?? 1)
      fresh = Number(counts[2] ?? 1)
    } else if (file === undefined) {
      if (line.trim() !== '' && !/^(?:---|\+\+\+|index) /.test(line)) before.push(line)
    } else if (FACT.test(line)) file.facts.push(line)
  }
  return { before, files }
}

function fileOf(title: string): DiffFile {
  return { title, added: 0, removed: 0, facts: [], hunks: [] }
}

/** Returns x for `diff --git a/x b/x`. */
function titleOf(line: string): string {
  const names = line.slice('diff --git '.length)
  const half = (names.length - 1) / 2
  const [left, right] = [names.slice(0, half), names.slice(half + 1)]
  return left.startsWith('a/') && right.startsWith('b/') && left.slice(2) === right.slice(2) ? left.slice(2) : names
}

function aroundChanges(lines: readonly string[]): string[] {
  const near = new Set<number>()
  for (const [at, line] of lines.entries())
    if (line.startsWith('+') || line.startsWith('-')) for (let i = at - CONTEXT; i <= at + CONTEXT; i++) near.add(i)
  const out: string[] = []
  let left = 0
  for (const [at, line] of lines.entries()) {
    if (!near.has(at)) {
      left++
      continue
    }
    if (left > 0) out.push(leftOut(left, 'unchanged line'))
    left = 0
    out.push(line)
  }
  return out
}

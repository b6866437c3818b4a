// Shortens lists of paths: by directory, the first names of each.
import { leftOut, someOf } from './lines.ts'

const NAMES = 10
const DIRECTORIES = 20
export const PATH_LIMITS = { names_per_directory: NAMES, directories: DIRECTORIES }

/** Matches only a path: a sentence has spaces, a match has a colon. */
export function isPath(line: string): boolean {
  const text = line.trim()
  return text !== '' && !/[\s:]/.test(text) && (text.includes('/') || text.includes('\\') || /\w\.\w+$/.test(text))
}

export function byDirectory(lines: readonly string[]): string[] {
  const directories = new Map<string, string[]>()
  for (const line of lines) {
    const path = line.trim()
    if (path === '') continue
    const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'), -1) + 1
    const directory = cut === 0 ? './' : path.slice(0, cut)
    const names = directories.get(directory)
    if (names === undefined) directories.set(directory, [path.slice(cut)])
    else names.push(path.slice(cut))
  }
  const shown = [...directories]
    .slice(0, DIRECTORIES)
    .map(([directory, names]) =>
      names.length === 1 ? `${directory}${names[0]}` : `${directory} (${names.length}): ${someOf(names, NAMES)}`,
    )
  const rest = [...directories.values()].slice(DIRECTORIES)
  if (rest.length === 0) return shown
  const files = rest.reduce((sum, names) => sum + names.length, 0)
  return [...shown, leftOut(files, `path in ${rest.length} directories`).replace(/s$/, '')]
}

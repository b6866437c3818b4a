// Finds GATEWAY_* variables that are set and unknown. Most are typing errors, and a wrong name can silently leave access open.
import { VARIABLES } from '../../core/config/variables.ts'

export interface UnreadVariable {
  readonly name: string
  /** The declared name that is a slip or two away. */
  readonly suggested: string | null
}

export function unreadVariables(environment: NodeJS.ProcessEnv): UnreadVariable[] {
  const known = new Set(VARIABLES.map(({ name }) => `GATEWAY_${name}`))
  return Object.keys(environment)
    .filter((name) => name.startsWith('GATEWAY_') && !known.has(name))
    .sort()
    .map((name) => ({ name, suggested: [...known].find((candidate) => distance(candidate, name) <= 2) ?? null }))
}

/** Levenshtein. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length] ?? 0
}

// Replaces the units of a commit that only join others by one unit with fewer statements.
import type { Join, Joined, Statement } from '../types/ports/db.ts'

export function isJoinable(statements: readonly Statement[]): boolean {
  for (const { join, expect } of statements) if (join === undefined || expect !== undefined) return false
  return true
}

/** @param units joinable ones, in order. */
export function joinUnits(units: readonly { readonly statements: readonly Statement[] }[]): Required<Joined> {
  const parts = new Map<Join, Statement[]>()
  for (const { statements } of units) {
    for (const statement of statements) {
      const join = statement.join as Join
      const part = parts.get(join)
      if (part === undefined) parts.set(join, [statement])
      else part.push(statement)
    }
  }
  const joined: Joined[] = []
  for (const [join, part] of parts) joined.push(join.joined(part))
  return {
    statements: joined.flatMap(({ statements }) => statements),
    done() {
      for (const each of joined) each.done?.()
    },
  }
}

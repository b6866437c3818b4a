// Describes how a value changed, in a few words.

const SHOWN = 3
const LENGTH = 40

/** Paths whose values differ, each with both; at most three. '' where nothing does. */
export function changesBetween(before: unknown, after: unknown): string {
  const changes: string[] = []
  compare(before, after, '', changes)
  const more = changes.length > SHOWN ? `, and ${changes.length - SHOWN} more` : ''
  return changes.slice(0, SHOWN).join('; ') + more
}

function compare(before: unknown, after: unknown, path: string, changes: string[]): void {
  if (Object.is(before, after)) return
  if (!isObject(before) || !isObject(after)) {
    changes.push(`${path || 'all'}: ${short(before)} → ${short(after)}`)
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(before[key], after[key], path === '' ? key : `${path}.${key}`, changes)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function short(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
}

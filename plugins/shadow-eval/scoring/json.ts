// Compares two JSON texts by structure and values.
import { tokenF1 } from './text.ts'

/** Values below this depth, and those after so many, count as different. */
const MAX_DEPTH = 64
const MAX_VALUES = 20_000
const FENCED = /^```(?:json)?\s*\n([\s\S]*)\n```$/i

/** Returns an object or a list; undefined for any other text. Models put JSON into a block of code. */
export function structureIn(text: string): object | undefined {
  const trimmed = text.trim()
  const inner = FENCED.exec(trimmed)?.[1] ?? trimmed
  if (!/^[[{]/.test(inner)) return undefined
  try {
    const value: unknown = JSON.parse(inner)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns 0 to 1. Equal values have 1, texts what their words share, other values 0. A member that both have counts half for being there
 * with a value of the same kind, and half for the value; one that only one of them has counts 0. Lists are compared place by place.
 */
export function similarity(served: unknown, other: unknown): number {
  let left = MAX_VALUES
  const compare = (a: unknown, b: unknown, depth: number): number => {
    if (depth > MAX_DEPTH || left-- <= 0 || kindOf(a) !== kindOf(b)) return 0
    if (Array.isArray(a) && Array.isArray(b)) {
      const most = Math.max(a.length, b.length)
      if (most === 0) return 1
      let sum = 0
      for (let index = 0; index < Math.min(a.length, b.length); index++) sum += member(a[index], b[index], depth)
      return sum / most
    }
    if (isObject(a) && isObject(b)) {
      const names = new Set([...Object.keys(a), ...Object.keys(b)])
      if (names.size === 0) return 1
      let sum = 0
      for (const name of names) if (Object.hasOwn(a, name) && Object.hasOwn(b, name)) sum += member(a[name], b[name], depth)
      return sum / names.size
    }
    if (typeof a === 'string' && typeof b === 'string') return a === b ? 1 : tokenF1(a, b)
    return a === b ? 1 : 0
  }
  const member = (a: unknown, b: unknown, depth: number): number =>
    kindOf(a) === kindOf(b) ? (1 + compare(a, b, depth + 1)) / 2 : 0
  return compare(served, other, 0)
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Names of Helicone's headers, and their boolean syntax.
import type { HeaderBag } from '../../core/types/ports/ports.ts'

const PREFIX = 'helicone-'

/** Called for every request. */
export function hasHelicone(headers: HeaderBag): boolean {
  const list = headers.flat()
  for (let i = 0; i < list.length; i += 2) if (isHelicone(list[i] as string)) return true
  return false
}

/** Removes all of them, also unknown ones. */
export function strip(headers: HeaderBag): void {
  for (const name of namesIn(headers)) headers.delete(name)
}

/** Returns names in lower case, without duplicates. */
export function namesIn(headers: HeaderBag): string[] {
  const names = new Set<string>()
  for (const [name] of headers) if (isHelicone(name)) names.add(name)
  return [...names]
}

/** Only the text `true` counts as true. */
export function isTrue(headers: HeaderBag, name: string): boolean {
  return headers.get(name)?.trim().toLowerCase() === 'true'
}

/** Returns an integer within the limits, otherwise the fallback. */
export function wholeNumber(text: string | null, min: number, max: number, fallback: number): number {
  if (text === null || !/^\d{1,12}$/.test(text.trim())) return fallback
  const value = Number(text)
  return value < min ? fallback : Math.min(value, max)
}

function isHelicone(name: string): boolean {
  if (name.length < PREFIX.length || name.charCodeAt(8) !== HYPHEN) return false
  return (name.charCodeAt(0) | 32) === LETTER_H && name.slice(0, PREFIX.length).toLowerCase() === PREFIX
}

const HYPHEN = 45
const LETTER_H = 104

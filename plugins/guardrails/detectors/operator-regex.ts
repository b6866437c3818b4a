// Runs an operator's regular expressions in linear time, for any pattern.
import { RE2JS } from 're2js'
import type { Finder } from '../rule.ts'

/** Maximum program size: the steps per character grow with it. */
const MAX_PROGRAM = 1000

/** Returns the fault of a pattern, for its author; null: none. */
export function regexFault(source: string): string | null {
  try {
    const compiled = RE2JS.compile(source)
    if (compiled.programSize() > MAX_PROGRAM) return 'is too large once its repetitions are written out'
    if (compiled.matcher('').find()) return 'matches the empty text'
    return null
  } catch (error) {
    return `is not a regular expression of RE2: ${error instanceof Error ? error.message : String(error)}`
  }
}

export function regexFinder(source: string, caseSensitive: boolean, reach: number): Finder {
  const compiled = RE2JS.compile(source, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  return {
    entity: 'regex',
    reach,
    find(text, from) {
      // The context contains only the character before the text.
      const lead = Math.max(0, from - 1)
      const matcher = compiled.matcher(lead === 0 ? text : text.slice(lead))
      for (let at = from - lead; at < text.length - lead && matcher.find(at); at = matcher.start() + 1) {
        const start = matcher.start() + lead
        const end = matcher.end() + lead
        if (end > start) return { start, end, read: end + 1 }
      }
      return null
    },
  }
}

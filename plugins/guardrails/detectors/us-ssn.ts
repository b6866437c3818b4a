// Detects United States social security numbers with separators. Numbers that were never issued do not match.
import { type Finder, patternFinder, wholeMatch } from '../rule.ts'

const SHAPE = /(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\w-])/
/** Published in advertisements. */
const FAMOUS = new Set(['078051120', '219099999'])

export function usSsnFinder(): Finder {
  return patternFinder('us_ssn', 16, SHAPE, (match) => (FAMOUS.has(match[0].replace(/\D/g, '')) ? null : wholeMatch(match)))
}

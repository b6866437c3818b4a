// Social security numbers of the United States, with their separators; numbers that were never given out are none.
import { type Finder, patternFinder, wholeMatch } from '../rule.ts'

const SHAPE = /(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\w-])/
/** Printed in advertisements. */
const FAMOUS = new Set(['078051120', '219099999'])

export function usSsnFinder(): Finder {
  return patternFinder('us_ssn', 16, SHAPE, (match) => (FAMOUS.has(match[0].replace(/\D/g, '')) ? null : wholeMatch(match)))
}

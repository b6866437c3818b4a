// Detects telephone numbers: international ones with `+`, and North American ones with separators.
import { type Finder, patternFinder } from '../rule.ts'

/** E.164: at most 15 digits, with at most two separators between two digits. */
const INTERNATIONAL = String.raw`(?<![\w+])\+[1-9](?:[ .()/-]{0,2}\d){6,14}(?!\d)`
const AMERICAN = String.raw`(?<![\w.+-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}(?![\w-])`

export function phoneFinder(): Finder {
  return patternFinder('phone', 48, new RegExp(`${INTERNATIONAL}|${AMERICAN}`))
}

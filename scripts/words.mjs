// node scripts/words.mjs: finds sentences that break the rules of "Words" in comments and docs. Prints file, line and the words; exits
// with 1 when there are any.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** Sentences that begin with a relative clause or with an undefined actor. Name the actor and the action instead. */
const OPENING = /(?:^|[.;:] )(?:What|Who|Whoever|Whatever|Whose|Of|Nothing|Nobody|Somebody)\s(?![^.]*\?)/
/** Words with a standard term: reported, intended, fixed, again, a user. */
const WORD = /\b(?:nobody|somebody|whoever|told|meant|mended|(?:becomes?|became) of|anew)\b/i
/** Documents that are not in the repository. */
const CITED = /\b(?:CONTRACTS|RELIABILITY|DECISIONS|ARCHITECTURE|PERFORMANCE) [\d"§A-Z]|\bSPEC(?:'s|’s)? "|\bDIALECTS \d/

const RULES = [OPENING, WORD, CITED]
const listed = (...paths) =>
  execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(path))

/** Returns the comment text of a source line; '' without one. */
const commentOf = (line) => /^\s*(?:\/\/ ?|\/\*\* ?|\* ?)(.*?)(?:\*\/)?$/.exec(line)?.[1].trim() ?? ''

let found = 0
const check = (path, textOf, rules = RULES) => {
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const text = textOf(line)
    for (const rule of rules) {
      const hit = rule.exec(text.replaceAll(/"[^"]*"/g, '""'))
      if (hit === null) continue
      found++
      console.error(`${path}:${index + 1}: "${hit[0].trim()}" in: ${text.slice(0, 120)}`)
    }
  }
}

for (const path of listed('core', 'adapters', 'plugins', 'scripts', 'examples', 'bench'))
  if (/\.(?:ts|mjs)$/.test(path)) check(path, commentOf)
for (const path of listed('test')) if (/\.ts$/.test(path)) check(path, commentOf, [CITED])
for (const path of listed('README.md', 'CONTRIBUTING.md', 'docs'))
  if (path.endsWith('.md')) check(path, (line) => (line.startsWith('    ') ? '' : line))

if (found > 0) console.error(`${found} places to reword. See "Words" in CONTRIBUTING.md.`)
process.exitCode = found > 0 ? 1 : 0

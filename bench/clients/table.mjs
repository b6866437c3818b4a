// Prints the results as a table for the terminal and for docs/clients.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UPSTREAMS } from './catalog.mjs'

const DOC = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))
const MARKS = /(<!-- generated: clients -->\n)[\s\S]*(<!-- end: clients -->)/

export function printTable(rows) {
  for (const { name, dialect, version, skipped, cells } of rows) {
    const said = skipped
      ? `skipped: ${skipped}`
      : UPSTREAMS.map((upstream) => `${upstream}: ${cell(cells[upstream])}`).join('   ')
    console.log(`${`${name} (${dialect})`.padEnd(46)} ${(version ?? '').padEnd(32)} ${said}`)
  }
}

export function writeDoc(rows, date) {
  const head = ['Client', 'Version', 'Speaks', ...UPSTREAMS.map((upstream) => `\`${upstream}\``)]
  const lines = [
    `Measured on ${date} with Node ${process.versions.node}.`,
    '',
    `| ${head.join(' | ')} |`,
    `|${' --- |'.repeat(head.length)}`,
    ...rows.map(({ name, dialect, version, skipped, cells }) => {
      const results = UPSTREAMS.map((upstream) => (skipped ? 'skipped' : cell(cells[upstream])))
      return `| ${[name, version ?? '–', `\`${dialect}\``, ...results].join(' | ')} |`
    }),
    '',
  ]
  const text = readFileSync(DOC, 'utf8')
  if (!MARKS.test(text)) throw new Error(`${DOC} has no markers for the table.`)
  writeFileSync(
    DOC,
    text.replace(MARKS, (_, open, close) => `${open}\n${lines.join('\n')}\n${close}`),
  )
}

function cell(result) {
  if (result === undefined) return '–'
  if (result.ok) return 'ok'
  return result.limit ? 'known limit' : result.failures.join('; ')
}

// Prints the results, and writes them into docs/hosts.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const DOC = fileURLToPath(new URL('../../docs/hosts.md', import.meta.url))
const MARKS = /(<!-- generated: stranger -->\n)[\s\S]*(<!-- end: stranger -->)/
const CASES = ['whole', 'stream', 'abort while waiting', 'abort in mid-stream', '429', 'broken upstream', 'bad JSON', '404']

export function printRow({ name, version, cells }) {
  const faults = Object.entries(cells).filter(([, fault]) => fault !== null)
  console.log(`${faults.length === 0 ? 'ok   ' : 'FAILS'} ${name.padEnd(12)} ${version ?? ''}`)
  for (const [one, fault] of faults) console.log(`      ${one}: ${fault}`)
}

export function writeDoc(rows, commands) {
  const lines = [
    `| Host | Version | ${CASES.join(' | ')} |`,
    `| --- | --- |${' --- |'.repeat(CASES.length)}`,
    ...rows.map(
      ({ name, version, cells }) =>
        `| ${[name, version ?? `Node ${process.versions.node}`, ...CASES.map((one) => cell(cells[one]))].join(' | ')} |`,
    ),
    '',
    '| Step in an empty folder | Result |',
    '| --- | --- |',
    ...commands.map(({ command, fault }) => `| ${command} | ${cell(fault)} |`),
  ]
  const page = readFileSync(DOC, 'utf8')
  if (!MARKS.test(page)) throw new Error(`${DOC} has no markers for the table.`)
  writeFileSync(
    DOC,
    page.replace(MARKS, (_, open, close) => `${open}\n${lines.join('\n')}\n\n${close}`),
  )
}

function cell(fault) {
  if (fault === undefined) return 'not run'
  return fault === null ? 'ok' : 'fails'
}

// Runs a part of the core's contracts, and the examples of docs/runtimes.md, on Node, Bun, Deno and workerd, and writes the table of that
// page. `npm run runtimes` builds first. It installs pinned binaries from npm into a temporary folder; a missing one is skipped by name.
import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runExamples } from './runtimes/examples.mjs'
import { installHookgate, installRuntime, RUNTIMES } from './runtimes/install.mjs'
import { startLane } from './runtimes/lane.mjs'
import { writeTools } from './runtimes/tools.mjs'
import { startWorkerd } from './runtimes/workerd.mjs'

const PAGE = resolve(import.meta.dirname, '../docs/runtimes.md')
/** deno: it may read, listen and dial as Node does. bun: it must not install anything by itself. */
const ARGUMENTS = { node: [], bun: ['--no-install', 'run'], deno: ['run', '--no-prompt', '-A'] }

const app = installHookgate()
for (const name of ['contract.mjs', 'server.mjs', 'worker.mjs'])
  copyFileSync(join(import.meta.dirname, 'runtimes', name), join(app, name))
await writeTools(app)

const lane = await startLane()
const columns = []
let failed = false
for (const id of Object.keys(RUNTIMES)) {
  const { name, version } = RUNTIMES[id]
  const title = `${name} ${version}`
  const binary = installed(id)
  const results = binary === null ? null : [...(await contract(id, binary)), ...(await examples(id, binary))]
  columns.push({ title, results })
  for (const { row, error } of results ?? []) if (error !== null) console.error(`${title}: ${row}: ${error}`)
  failed ||= (results ?? []).some(({ error }) => error !== null)
}
await lane.close()

const table = tableOf(columns)
console.log(table)
// A machine without a binary must not remove what another one found.
if (columns.every(({ results }) => results !== null)) writeTable(table)
process.exitCode = failed ? 1 : 0

/** Returns null, and says why, when this machine cannot have the runtime. */
function installed(id) {
  try {
    return installRuntime(id)
  } catch (error) {
    console.log(`${RUNTIMES[id].name} is skipped: ${String(error.message).split('\n')[0]}`)
    return null
  }
}

function contract(id, binary) {
  return id === 'workerd' ? onWorkerd(binary) : onServer(binary, ARGUMENTS[id])
}

function examples(id, binary) {
  return runExamples({ id, binary, args: ARGUMENTS[id], app, page: readFileSync(PAGE, 'utf8') })
}

async function onServer(binary, args) {
  const call = promisify(execFile)(binary, [...args, 'server.mjs', JSON.stringify(lane.addresses)], {
    cwd: app,
    timeout: 300_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  // A runtime that starts and dies has failed; only one that is missing is skipped.
  const { stdout } = await call.catch((error) => ({ stdout: JSON.stringify([{ row: 'Starts', error: String(error) }]) }))
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

async function onWorkerd(binary) {
  const worker = await startWorkerd(binary, {
    folder: app,
    entry: 'worker.mjs',
    bindings: { LANE: JSON.stringify(lane.addresses) },
  })
  try {
    const answer = await fetch(worker.url)
    const text = await answer.text()
    return answer.ok ? JSON.parse(text) : [{ row: 'Starts', error: `${text}\n${worker.output()}` }]
  } finally {
    worker.stop()
  }
}

function tableOf(list) {
  const rows = [...new Set(list.flatMap(({ results }) => (results ?? []).map(({ row }) => row)))]
  const cell = ({ results }, row) => {
    if (results === null) return 'not run'
    const found = results.find((one) => one.row === row)
    return found === undefined ? '–' : found.error === null ? 'yes' : 'fails'
  }
  return [
    `| | ${list.map(({ title }) => title).join(' | ')} |`,
    `| --- |${' --- |'.repeat(list.length)}`,
    ...rows.map((row) => `| ${row} | ${list.map((column) => cell(column, row)).join(' | ')} |`),
  ].join('\n')
}

function writeTable(text) {
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest] = page.split('<!-- generated: runtimes -->\n')
  const [, after] = rest.split('<!-- end: runtimes -->')
  writeFileSync(PAGE, `${before}<!-- generated: runtimes -->\n\n${text}\n\n<!-- end: runtimes -->${after}`)
}

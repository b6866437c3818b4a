// npm run clients: runs real clients through this gateway, over upstreams in all four dialects. Each session has three turns: two calls of
// the client's own tool, then a text that quotes their results. All upstreams are scripted; there are no outbound calls.
//
//   --install                install the newest versions first, into --dir
//   --dir <folder>           the clients' folder; default: a temporary folder of the system
//   --only <client>          by id or prefix; may be repeated
//   --upstream <dialect>     only this upstream; may be repeated
//   --limit 90               seconds per cell
//   --json                   results only
//   --docs                   write the table into docs/clients.md
//   --debug                  output of a failed client
//
// A client that is not installed is skipped by name. A failure that docs/clients.md explains is shown as a limit. Exit code 1 when
// another cell fails.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CLIENTS, UPSTREAMS } from './clients/catalog.mjs'
import { runCell } from './clients/cell.mjs'
import { install, placeOf } from './clients/place.mjs'
import { printTable, writeDoc } from './clients/table.mjs'

const { values } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    dir: { type: 'string', default: join(tmpdir(), 'hookgate-clients') },
    only: { type: 'string', multiple: true },
    upstream: { type: 'string', multiple: true },
    limit: { type: 'string', default: '90' },
    json: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    debug: { type: 'boolean', default: false },
  },
})
const say = (line) => console.error(line)
const clients = CLIENTS.filter(({ id }) => values.only?.some((start) => id.startsWith(start)) ?? true)
const upstreams = UPSTREAMS.filter((upstream) => values.upstream?.includes(upstream) ?? true)
if (clients.length === 0) throw new Error(`No such client. They are: ${CLIENTS.map(({ id }) => id).join(', ')}`)
if (upstreams.length === 0) throw new Error(`No such upstream. They are: ${UPSTREAMS.join(', ')}`)

if (values.install) await install(clients, values.dir, say)
const rows = []
for (const client of clients) {
  const { id, name, dialect } = client
  const place = placeOf(client, values.dir)
  const row = { id, name, dialect, version: place.version ?? null, skipped: place.missing ?? null, cells: {} }
  rows.push(row)
  if (place.missing) {
    say(`${id}: skipped, ${place.missing}`)
    continue
  }
  for (const upstream of upstreams) {
    const began = performance.now()
    const { stdout, stderr, requests, answers, ...result } = await runCell(client, place, upstream, Number(values.limit) * 1000)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    row.cells[upstream] = { ...result, seconds: Number(seconds) }
    say(
      `${id} over ${upstream}: ${result.limit ? 'known limit: ' : ''}${result.ok ? 'ok' : result.failures.join('; ')} (${seconds} s)`,
    )
    for (const note of result.notes) say(`  ${note}`)
    if (values.debug && !result.ok) {
      say(`${stdout.slice(-3000)}\n${stderr.slice(-3000)}`)
      for (const one of answers) say(JSON.stringify(one))
      for (const { path, text } of requests) say(`${path} ${text.slice(0, 1500)}`)
    }
  }
}
if (values.json) console.log(JSON.stringify(rows))
else printTable(rows)
if (values.docs) writeDoc(rows, new Date().toISOString().slice(0, 10))
if (rows.some(({ cells }) => Object.values(cells).some(({ ok, limit }) => !ok && !limit))) process.exitCode = 1

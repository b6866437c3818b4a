// npm run stranger: does what a new user does. It packs hookgate and three example packages, installs the tarballs into an empty folder,
// runs the modules of docs/hosts.md there, and then works with the command line. All upstreams are scripted; only npm calls out.
//
//   --only <host>    by the heading in docs/hosts.md, or `commands`; may be repeated
//   --dir <folder>   the folder to install into; default: a temporary folder of the system
//   --installed      use the last installation in --dir
//   --json           results only
//   --docs           write the table into docs/hosts.md
//
// Exit code 1 when something failed.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { choose, scriptedUpstream } from '../dist/adapters/testing/index.js'
import { walkCommands } from './stranger/commands.mjs'
import { HOSTS, startHost } from './stranger/hosts.mjs'
import { install } from './stranger/place.mjs'
import { printRow, writeDoc } from './stranger/table.mjs'
import { stepOf, walkHost } from './stranger/walk.mjs'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    dir: { type: 'string', default: join(tmpdir(), 'hookgate-stranger') },
    installed: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
})
const say = (line) => console.error(line)
const names = [...HOSTS.map(({ name }) => name), 'commands']
const unknown = values.only?.find((name) => !names.includes(name))
if (unknown !== undefined) throw new Error(`There is no host \`${unknown}\`. They are: ${names.join(', ')}`)
const chosen = (name) => values.only?.includes(name) ?? true

const packed = install(values.dir, { again: !values.installed, say })
const upstream = await scriptedUpstream(choose(stepOf))
const results = []
try {
  for (const host of HOSTS) {
    if (!chosen(host.name)) continue
    const running = await startHost(host, values.dir, upstream.baseUrl('chat')).catch((error) => ({ error }))
    const cells = running.error ? { starts: String(running.error) } : await walkHost(running, upstream)
    running.stop?.()
    results.push({ name: host.name, version: packed.versions[host.packages[0]] ?? null, cells })
    if (!values.json) printRow(results.at(-1))
  }
  const commands = chosen('commands') ? await walkCommands(values.dir, upstream.baseUrl('chat'), say) : []
  if (values.json) console.log(JSON.stringify({ hosts: results, commands }, null, 2))
  else
    for (const { command, ms, fault } of commands)
      console.log(`${fault ? 'FAILS' : 'ok   '} ${String(ms).padStart(6)} ms  ${command}${fault ? `\n      ${fault}` : ''}`)
  if (values.docs) writeDoc(results, commands)
  const failed =
    results.some(({ cells }) => Object.values(cells).some((fault) => fault !== null)) || commands.some(({ fault }) => fault)
  process.exitCode = failed ? 1 : 0
} finally {
  await upstream.close()
}

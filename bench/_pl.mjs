// profile of 1MB bodies

import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { startGateway } from './harness/gateway.mjs'

const answer =
  process.env.W === 'messages'
    ? JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'ok' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      })
    : JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
const upstream = createServer((req, res) => {
  req.resume().on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(answer))
})
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
const dir = mkdtempSync('/tmp/pl-')
writeFileSync(
  dir + '/gateway.config.mjs',
  `export default { connections: { up: { provider: 'custom', baseUrl: 'http://127.0.0.1:${upstream.address().port}/v1', wireFormat: '${process.env.W ?? 'chat'}', apiKey: 'sk' } } }`,
)
const flags = process.env.PROF
  ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof-large', '--max-semi-space-size=64']
  : [...(process.env.TRACE ? ['--trace-gc'] : []), '--max-semi-space-size=64']
const g = await startGateway({ dir, config: dir + '/gateway.config.mjs', flags })
const ascii = process.env.ASCII
const body = JSON.stringify({
  model: 'up/m',
  stream: false,
  max_tokens: 512,
  messages: Array.from({ length: 512 }, (_, i) => ({
    role: i % 2 ? 'assistant' : 'user',
    content:
      `${i} ${(ascii ? 'some "quoted" text, a line\n and plain words - ' : 'some "quoted" text, a line\n and ünïcode — ').repeat(46)}`.slice(
        0,
        1990,
      ),
  })),
})
console.log('bytes', Buffer.byteLength(body))
const agent = process.env.AGENT
const chat = agent && {
  model: 'up/m',
  max_tokens: 512,
  tools: [
    { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: { path: { type: 'string' } } } } },
  ],
  messages: [
    { role: 'system', content: 'You are an agent. '.repeat(500) },
    ...Array.from({ length: 200 }, (_, i) => [
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          {
            id: 'call_' + i,
            type: 'function',
            function: { name: 'read', arguments: JSON.stringify({ path: 'src/file' + i + '.ts' }) },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_' + i, content: 'export const x = "y" // a line of code\n'.repeat(130) },
    ]).flat(),
    { role: 'user', content: 'go on' },
  ],
}
const claude = agent && {
  model: 'up/m',
  max_tokens: 512,
  system: [{ type: 'text', text: 'You are an agent. '.repeat(500), cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'read', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }],
  messages: [
    { role: 'user', content: 'start' },
    ...Array.from({ length: 200 }, (_, i) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'toolu_' + i, name: 'read', input: { path: 'src/file' + i + '.ts' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_' + i, content: 'export const x = "y" // a line of code\n'.repeat(130) },
        ],
      },
    ]).flat(),
  ],
}
const sent = !agent ? body : JSON.stringify((process.env.P ?? '').includes('messages') ? claude : chat)
console.log('sent', sent.length)
let gc = ''; g.child.stdout.on('data', (d) => { gc += d }); process.on('exit', () => { if (process.env.TRACE) { const l = gc.split('\n'); console.log(l.filter((x) => /Scav/.test(x)).length, 'scavenges', l.filter((x) => /Mark/.test(x)).length, 'mark'); console.log(l.slice(-30).join('\n')) } })
const pool = new Pool(g.url, { connections: 2 })
const cpu = () => {
  const f = require('fs').readFileSync(`/proc/${g.child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (+f[11] + +f[12]) / 100
}

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const path = process.env.P ?? '/v1/chat/completions'
async function run(n) {
  let left = n
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      while (left-- > 0) {
        const r = await pool.request({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: sent })
        if (r.statusCode !== 200) throw new Error(await r.body.text())
        await r.body.dump()
      }
    }),
  )
}
await run(300)
for (let k = 0; k < 3; k++) {
  const c = cpu()
  await run(400)
  console.log('cpu ms/request', (((cpu() - c) / 400) * 1000).toFixed(2))
}
 const done = once(g.child, 'exit')
g.child.kill('SIGTERM')
await done
process.exit(0)

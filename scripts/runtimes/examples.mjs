// Runs the examples of docs/runtimes.md on a free port and asks each for a whole answer and a stream.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWorkerd } from './workerd.mjs'

/** Heading of the example, and what the lane adds so that it learns the port. */
const EXAMPLES = {
  node: [{ heading: 'Node', more: `server.once('listening', () => console.log('PORT ' + server.address().port))` }],
  bun: [{ heading: 'Bun', more: `console.log('PORT ' + server.port)` }],
  deno: [{ heading: 'Deno', more: `console.log('PORT ' + server.addr.port)` }],
  workerd: [
    { heading: 'Workers: a Durable Object', durable: 'Gateway' },
    { heading: 'Workers: a gateway for each request', durable: null },
  ],
}

export async function runExamples({ id, binary, args, app, page }) {
  const results = []
  for (const { heading, more = '', durable = null } of EXAMPLES[id]) {
    const entry = `example-${heading.toLowerCase().replace(/\W+/g, '-')}.mjs`
    const row = id === 'workerd' ? `Example: ${heading}` : 'Example of this page'
    try {
      writeFileSync(join(app, entry), `${codeOf(page, heading).replace(/\b8788\b/, '0')}\n${more}\n`)
      const server =
        id === 'workerd'
          ? await startWorkerd(binary, { folder: app, entry, durable, bindings: { CALLER_TOKEN: 'let-me-in' } })
          : await started(binary, [...args, entry], app)
      await answers(server.url).finally(() => server.stop())
      results.push({ row, error: null })
    } catch (error) {
      results.push({ row, error: String(error.stack) })
    }
  }
  return results
}

/** Returns the first JavaScript below the heading. @throws Error when there is none. */
function codeOf(page, heading) {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const code = /^```js\n([\s\S]*?)^```$/m.exec(section)?.[1]
  if (code === undefined) throw new Error(`docs/runtimes.md has no example below "${heading}"`)
  return code
}

function started(binary, args, cwd) {
  const child = spawn(binary, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = []
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      const [, port] = /PORT (\d+)/.exec(String(chunk)) ?? []
      if (port !== undefined) resolve({ url: `http://127.0.0.1:${port}`, stop: () => child.kill() })
    })
    child.on('exit', (code) => reject(new Error(`the example ended with ${code}: ${said.join('')}`)))
  })
}

async function answers(url) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer let-me-in' }
  const ask = (more) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hello' }], ...more }),
    })
  // The second and third call meet a gateway that has served one.
  const all = await Promise.all([ask({}), ask({ stream: true }), ask({ stream: true })])
  const [whole, ...streams] = await Promise.all(all.map((answer) => answer.text()))
  assert.deepEqual(
    all.map(({ status }) => status),
    [200, 200, 200],
    whole,
  )
  assert.equal(JSON.parse(whole).choices[0].message.content, 'Hello')
  for (const text of streams) assert.ok(text.endsWith('data: [DONE]\n\n'), text)
}

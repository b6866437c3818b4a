// The calls that every host must answer in the same way. The requested model selects the behaviour of the scripted upstream.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { fail, hang, reply } from '../../dist/adapters/testing/index.js'
import { CLIENT_KEY } from './hosts.mjs'

const TEXT = 'one two three '.repeat(40)
const STEPS = {
  whole: reply({ text: TEXT, chunk: 20 }),
  slow: reply({ text: TEXT, chunk: 20 }, { everyMs: 20 }),
  silent: hang(),
  limited: fail(429, { headers: { 'retry-after': '7' } }),
  broken: reply({ text: TEXT, chunk: 20 }, { cut: { after: 5, how: 'reset' } }),
}
export const stepOf = ({ json }) => STEPS[json.model] ?? STEPS.whole

/** @returns for each case null, or the fault */
export async function walkHost({ url, output }, upstream) {
  const ask = (model, stream, init = {}) =>
    fetch(`${url}/llm/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CLIENT_KEY}` },
      body: JSON.stringify({ model: `up/${model}`, stream, messages: [{ role: 'user', content: 'Count.' }] }),
      signal: AbortSignal.timeout(30_000),
      ...init,
    })
  const arrived = (count) => eventually(() => upstream.requests.length > count && upstream.requests.at(-1))
  const leftUpstream = (request) => eventually(() => request.abortedAt !== null)

  const cases = {
    async whole() {
      const response = await ask('whole', false)
      assert.equal(response.status, 200, await response.clone().text())
      assert.equal((await response.json()).choices[0].message.content, TEXT)
    },
    async stream() {
      const response = await ask('slow', true)
      assert.match(response.headers.get('content-type'), /^text\/event-stream/)
      let [pieces, text] = [0, '']
      const decoder = new TextDecoder()
      for await (const chunk of response.body) {
        pieces++
        text += decoder.decode(chunk, { stream: true })
      }
      assert.equal([...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join(''), TEXT)
      assert.ok(text.endsWith('data: [DONE]\n\n'), 'the stream has no end')
      assert.ok(pieces > 5, `the stream arrived in ${pieces} pieces`)
    },
    async 'abort while waiting'() {
      const before = upstream.requests.length
      const left = new AbortController()
      const waiting = ask('silent', true, { signal: left.signal }).catch((error) => error.name)
      const request = await arrived(before)
      left.abort()
      assert.equal(await waiting, 'AbortError')
      await leftUpstream(request)
    },
    async 'abort in mid-stream'() {
      const before = upstream.requests.length
      const left = new AbortController()
      const response = await ask('slow', true, { signal: left.signal })
      const request = await arrived(before)
      await response.body.getReader().read()
      left.abort()
      await leftUpstream(request)
    },
    async 429() {
      const response = await ask('limited', false)
      assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '7'])
      assert.equal((await response.json()).error.type, 'rate_limit_error')
    },
    async 'broken upstream'() {
      const text = await (await ask('broken', true)).text()
      assert.match(text, /"error":\{/)
      assert.ok(!text.includes('[DONE]'), 'a broken stream ends like a whole one')
    },
    async 'bad JSON'() {
      const response = await ask('whole', false, { body: '{"model": ' })
      assert.equal(response.status, 400)
      assert.equal((await response.json()).error.type, 'invalid_request_error')
    },
    async 404() {
      const response = await fetch(`${url}/llm/v1/unknown`)
      assert.deepEqual([response.status, (await response.json()).error.code], [404, 'unknown_url'])
    },
  }
  const cells = {}
  for (const [name, run] of Object.entries(cases)) {
    cells[name] = await run().then(
      () => null,
      (error) => `${error.message}\n${output().slice(-500)}`.trim(),
    )
  }
  return cells
}

/** Returns the first value that is not false. @throws Error after 5 s */
async function eventually(look) {
  for (let round = 0; round < 250; round++) {
    const value = look()
    if (value) return value
    await sleep(20)
  }
  throw new Error(`this did not happen in 5 s: ${look}`)
}

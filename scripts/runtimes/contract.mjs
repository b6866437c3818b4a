// The part of the core's contracts that every runtime must pass. It gets the runtime's `createGateway` and the addresses of the lane, and
// returns one result for each row of the table. Plain JavaScript with web standards only.
import assert from 'node:assert/strict'
import { chatDialect } from 'hookgate/adapters/dialects/chat'
import { generateContentDialect } from 'hookgate/adapters/dialects/generate-content'
import { messagesDialect } from 'hookgate/adapters/dialects/messages'
import { responsesDialect } from 'hookgate/adapters/dialects/responses'
import { chatReplies, dialectContract, generateContentReplies, messagesReplies, responsesReplies } from './contract-tools.mjs'

const DRIVERS = [
  [chatDialect, chatReplies],
  [messagesDialect, messagesReplies],
  [responsesDialect, responsesReplies],
  [generateContentDialect, generateContentReplies],
]

/** @param lane `upstream` and `control`: base URLs. Returns [{ row, error }], error null when it passed. */
export async function coreContract(createGateway, lane) {
  const results = []
  for (const [driver, replies] of DRIVERS) {
    const cases = dialectContract(driver, replies)
    await record(results, `Dialect contract: ${driver.id}`, async () => {
      for (const { name, run } of cases) await named(name, run)
    })
  }
  const gateway = await createGateway({ connections: connectionsOf(lane) })
  for (const [row, run] of Object.entries(PIPELINE)) await record(results, row, () => run(gateway, lane))
  await gateway.close()
  return results
}

export async function record(results, row, run) {
  try {
    await run()
    results.push({ row, error: null })
  } catch (error) {
    results.push({ row, error: `${error.stack ?? error}`.slice(0, 2000) })
  }
}

async function named(name, run) {
  try {
    await run()
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error })
  }
}

export function connectionsOf({ upstream }) {
  const v1 = `${upstream}/v1`
  return {
    chat: { provider: 'custom', baseUrl: v1, wireFormat: 'chat', apiKey: 'sk-up' },
    messages: { provider: 'custom', baseUrl: v1, wireFormat: 'messages', apiKey: 'sk-up' },
    first: { provider: 'mistral', baseUrl: v1, apiKey: 'sk-down', priority: 1 },
    second: { provider: 'mistral', baseUrl: v1, apiKey: 'sk-up', priority: 2 },
  }
}

export function ask(gateway, path, body, init = {}) {
  const headers = { 'content-type': 'application/json', ...init.headers }
  const request = new Request(`http://gateway.test${path}`, { ...init, method: 'POST', headers, body: JSON.stringify(body) })
  return gateway.fetch(request, { address: '127.0.0.1', local: true, ...init.peer })
}

export const chatBody = (model, more = {}) => ({ model, messages: [{ role: 'user', content: 'Say hello.' }], ...more })

const TEXT = 'Hello from the scripted upstream.'

const PIPELINE = {
  'Chat, whole answer': async (gateway) => {
    const answer = await ask(gateway, '/v1/chat/completions', chatBody('chat/m'))
    const body = await answer.json()
    assert.equal(answer.status, 200, JSON.stringify(body))
    assert.equal(body.choices[0].message.content, TEXT)
    assert.ok(body.usage.total_tokens > 0)
  },
  'Chat, stream': async (gateway) => {
    const answer = await ask(gateway, '/v1/chat/completions', chatBody('chat/m', { stream: true }))
    assert.match(answer.headers.get('content-type'), /^text\/event-stream/)
    const text = await answer.text()
    assert.ok(text.endsWith('data: [DONE]\n\n'))
    assert.equal(contentOf(text), TEXT)
  },
  'Chat over an upstream in another dialect, whole and stream': async (gateway) => {
    const whole = await (await ask(gateway, '/v1/chat/completions', chatBody('messages/m'))).json()
    assert.equal(whole.choices[0].message.content, TEXT)
    const streamed = await (await ask(gateway, '/v1/chat/completions', chatBody('messages/m', { stream: true }))).text()
    assert.equal(contentOf(streamed), TEXT)
    const back = await (await ask(gateway, '/v1/messages', chatBody('chat/m', { max_tokens: 50 }))).json()
    assert.equal(back.content[0].text, TEXT)
  },
  'Failover to the next connection': async (gateway) => {
    const answer = await ask(gateway, '/v1/chat/completions', chatBody('mistral/m'))
    const body = await answer.json()
    assert.equal(answer.status, 200, JSON.stringify(body))
    assert.equal(body.choices[0].message.content, TEXT)
  },
  'The upstream call ends when the caller leaves': async (gateway, { control }) => {
    const id = crypto.randomUUID()
    const answer = await ask(gateway, '/v1/chat/completions', chatBody('chat/stalls', { stream: true, user: id }))
    const reader = answer.body.getReader()
    await reader.read()
    await reader.cancel()
    assert.equal(await (await fetch(`${control}/aborted?user=${id}`)).text(), 'aborted')
  },
  'A broken upstream connection is 502': async (gateway) => {
    const { status } = await ask(gateway, '/v1/chat/completions', chatBody('chat/closes'))
    assert.equal(status, 502)
  },
}

function contentOf(sse) {
  const frames = [...sse.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json))
  return frames.map((frame) => frame.choices[0]?.delta.content ?? '').join('')
}

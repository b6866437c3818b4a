// A malformed tool call is thrown away and the upstream is asked once more: the vendor charged both answers.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, reply, type Step, type TestGateway } from '../../adapters/testing/index.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { sql } from '../../core/db/sql.ts'

let t: TestGateway
let vendor: ScriptedUpstream
afterEach(async () => {
  await t.close()
  await vendor.close()
})

const MALFORMED = reply({ text: '', finish: 'malformed_tool_call', usage: { input: 11, output: 3 } })
const ANSWER = reply({ text: 'four', usage: { input: 11, output: 5 } })
const FIRST = { input_tokens: 11, output_tokens: 3 }
const CALLERS = {
  'chat completions': [
    '/v1/chat/completions',
    { model: 'google/gemini-2.5-flash', messages: [{ role: 'user', content: '2+2' }] },
  ],
  'generate content': [
    '/v1beta/models/google%2Fgemini-2.5-flash:generateContent',
    { contents: [{ role: 'user', parts: [{ text: '2+2' }] }] },
  ],
} as const

async function charged(steps: Step[], [path, body]: (typeof CALLERS)[keyof typeof CALLERS]) {
  vendor = await scriptedUpstream(...steps)
  const google = { provider: 'google', baseUrl: vendor.baseUrl('generate_content'), apiKey: 'k' }
  t = await createTestGateway({ config: { connections: { google } } })
  const response = await t.post(path, body)
  await response.arrayBuffer()
  await t.untilCommitted(1)
  const rows = await t.gateway.db?.all(sql`SELECT input_tokens, output_tokens FROM ledger_usage ORDER BY step`)
  return { failed: !response.ok, asked: vendor.requests.length, rows }
}

describe.each(Object.entries(CALLERS))('%s', (_name, caller) => {
  it('both answers are booked', async () => {
    const rows = [FIRST, { input_tokens: 11, output_tokens: 5 }]
    expect(await charged([MALFORMED, ANSWER], caller)).toEqual({ failed: false, asked: 2, rows })
  })

  it('the first is booked when the second call fails', async () => {
    expect(await charged([MALFORMED, fail(500)], caller)).toEqual({ failed: true, asked: 2, rows: [FIRST] })
  })
})

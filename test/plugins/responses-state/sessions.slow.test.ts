// Long tool sessions with the OpenAI SDK: `previous_response_id` and conversations, over upstreams of every dialect.
import { createHash } from 'node:crypto'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { choose, fail, type RecordedRequest, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

const TURNS = 20
const DIALECTS = ['chat', 'messages', 'generate_content', 'responses'] as const

let t: TestGateway
afterEach(() => t.close())

/** Calls the tool for each question, then answers. */
function answerTo(request: RecordedRequest) {
  const results = request.text.split('25 degrees in City').length - 1
  const asked = request.text.split('Question ').length - 1
  return results < asked
    ? reply({ toolCalls: [{ id: `call_${asked}`, name: 'weather', args: `{"city":"City ${asked}"}` }] })
    : reply({ text: `Reply to ${asked}.` })
}

async function open(options: TestGatewayOptions = {}): Promise<OpenAI> {
  t = await createTestGateway({ upstream: [choose(answerTo)], ...options })
  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(url))
    return t.fetch(pathname + search, init)
  }
  return new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 0 })
}

const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: false },
]
type Link = Pick<OpenAI.Responses.ResponseCreateParams, 'previous_response_id' | 'conversation'>

/** One turn: a question, the call, its result, the answer. The next request comes at once. */
async function turnOf(sdk: OpenAI, model: string, question: number, link: Link, next: (id: string) => Link): Promise<string> {
  const called = await sdk.responses.create({ model, tools, input: `Question ${question}`, ...link })
  const call = called.output.find((item) => item.type === 'function_call')
  const output = `25 degrees in City ${question}`
  const input: OpenAI.Responses.ResponseInput = [{ type: 'function_call_output', call_id: call?.call_id ?? '', output }]
  const answer = await sdk.responses.create({ model, tools, input, ...next(called.id) })
  expect(answer.output_text).toBe(`Reply to ${question}.`)
  return answer.id
}

const hash = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')
const promptOf = ({ json }: RecordedRequest): unknown[] =>
  // The first request of a chain leaves as the caller sent it: its input is a text.
  typeof json.input === 'string'
    ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: json.input }] }]
    : ((json.messages ?? json.contents ?? json.input) as unknown[])

function expectGrowingPrompts(): void {
  const prompts = t.upstream.requests.map(promptOf)
  expect(prompts).toHaveLength(2 * TURNS)
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1]
    if (before !== undefined) expect(hash(prompt.slice(0, before.length)), `call ${index}`).toBe(hash(before))
  }
}

describe.each(DIALECTS)('over %s', (dialect) => {
  it(`${TURNS} turns by previous_response_id`, async () => {
    const sdk = await open()
    let link: Link = {}
    for (let turn = 1; turn <= TURNS; turn++)
      link = { previous_response_id: await turnOf(sdk, `${dialect}/m`, turn, link, (id) => ({ previous_response_id: id })) }
    expectGrowingPrompts()
  })

  it(`${TURNS} turns in a conversation`, async () => {
    const sdk = await open()
    const { id: conversation } = await sdk.conversations.create()
    for (let turn = 1; turn <= TURNS; turn++) await turnOf(sdk, `${dialect}/m`, turn, { conversation }, () => ({ conversation }))
    expectGrowingPrompts()
    const items: unknown[] = []
    for await (const item of sdk.conversations.items.list(conversation, { order: 'asc', limit: 100 })) items.push(item)
    expect(items).toHaveLength(4 * TURNS)
  })

  it('goes on elsewhere when its upstream fails at the third turn', async () => {
    let down = false
    const other = dialect === 'chat' ? 'messages' : 'chat'
    const route = { targets: [`${dialect}/m`, `${other}/m`], strategy: 'failover' as const }
    const sdk = await open({
      upstream: [choose((request) => (down && request.dialect === dialect ? fail(500) : answerTo(request)))],
      config: { virtualModels: { both: route } } as TestGatewayOptions['config'],
    })
    let link: Link = {}
    for (let turn = 1; turn <= 6; turn++) {
      down = turn >= 3
      link = { previous_response_id: await turnOf(sdk, 'both', turn, link, (id) => ({ previous_response_id: id })) }
    }
    const last = t.upstream.requests.at(-1)
    expect(last?.dialect).toBe(other)
    for (let turn = 1; turn <= 6; turn++) expect(last?.text).toContain(`25 degrees in City ${turn}`)
  })
})

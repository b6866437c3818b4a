// Stored responses are read again: whole, as a stream, and their input items.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { wallClock } from '../budgets/support.ts'
import { makeKey } from '../keys/support.ts'

let t: TestGateway
let clock = wallClock()
afterEach(() => t.close())

async function open(upstream: Step[], options: TestGatewayOptions = {}): Promise<void> {
  clock = wallClock()
  const env = { RESPONSES_STATE: 'true', ...options.env }
  t = await createTestGateway({ ...options, upstream, env, ports: { clock } })
}

function client(key = 'none'): OpenAI {
  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(url))
    return t.fetch(pathname + search, init)
  }
  return new OpenAI({ apiKey: key, baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 0 })
}

type Ask = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>

async function create(sdk: OpenAI, body: Ask, stream = false): Promise<OpenAI.Responses.Response> {
  const settled = t.settled.length
  let answer: OpenAI.Responses.Response | undefined
  if (stream) {
    for await (const event of await sdk.responses.create({ ...body, stream: true }))
      if (event.type === 'response.completed') answer = event.response
  } else answer = await sdk.responses.create(body)
  await t.untilCommitted(settled + 1)
  return answer as OpenAI.Responses.Response
}

async function read(path: string, key?: string): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const response = await t.fetch(`/v1/responses/${path}`, { headers })
  return { status: response.status, text: await response.text() }
}

const CALL: Step = reply({ toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Rome"}' }] })
const TOOL = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: false } as const

describe.each(['chat', 'messages', 'generate_content'])('over %s', (dialect) => {
  it.each([false, true])('the SDK gets the answer of POST again, stream %s', async (stream) => {
    await open([CALL, reply({ text: 'Sunny.' })])
    const sdk = client()
    const common = { model: `${dialect}/m`, tools: [TOOL], metadata: { team: 'a' }, instructions: 'Be brief.', temperature: 0.5 }
    const first = await create(sdk, { ...common, input: 'Weather in Rome?' }, stream)
    const call = first.output.find((item) => item.type === 'function_call')
    const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output: '25 degrees' } as const
    const second = await create(sdk, { ...common, previous_response_id: first.id, input: [result] }, stream)
    const asked = t.upstream.requests.length
    for (const answer of [first, second]) {
      const {
        _request_id,
        output_text: _text,
        ...again
      } = (await sdk.responses.retrieve(answer.id)) as typeof answer & {
        _request_id?: string
      }
      const {
        _request_id: _id,
        output_text: _said,
        ...given
      } = answer as typeof again & { _request_id?: string; output_text?: string }
      expect(again).toEqual(given)
    }
    expect(t.upstream.requests).toHaveLength(asked)
    const items = await sdk.responses.inputItems.list(second.id)
    expect(items.data).toEqual([{ id: expect.stringMatching(/^fco_/), status: 'completed', ...result }])
  })
})

it('counts no usage for a reading', async () => {
  await open([reply({ text: 'One.' })])
  const { id } = await create(client(), { model: 'chat/m', input: 'First' })
  const settled = t.settled.length
  expect((await read(id)).status).toBe(200)
  await t.untilSettled(settled + 1)
  expect(t.settled.at(-1)?.outcome).toMatchObject({ usage: { inputTotal: 0, outputTotal: 0 }, costNano: null, steps: [] })
})

it('pages through the input items, the newest first', async () => {
  await open([reply({ text: 'One.' })])
  const sdk = client()
  const input = ['a', 'b', 'c', 'd', 'e'].map((content) => ({ role: 'user' as const, content }))
  const { id } = await create(sdk, { model: 'chat/m', input })
  const textOf = (item: unknown) => (item as { content: { text: string }[] }).content[0]?.text
  const texts = async (query: object) => {
    const found: unknown[] = []
    for await (const item of sdk.responses.inputItems.list(id, query)) found.push(textOf(item))
    return found
  }
  expect(await texts({ limit: 2 })).toEqual(['e', 'd', 'c', 'b', 'a'])
  expect(await texts({ limit: 2, order: 'asc' })).toEqual(['a', 'b', 'c', 'd', 'e'])
  const page = JSON.parse((await read(`${id}/input_items?limit=2&order=asc`)).text)
  expect(page).toMatchObject({ object: 'list', has_more: true, first_id: page.data[0].id, last_id: page.data[1].id })
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=msg_1']) {
    const { status, text } = await read(`${id}/input_items?${query}`)
    expect([query, status, JSON.parse(text).error.param]).toEqual([query, 400, query.split('=')[0]])
  }
})

describe('as a stream', () => {
  it('sends the events of the answer, from a number on', async () => {
    await open([reply({ text: 'One, two, three.' })])
    const sdk = client()
    const answer = await create(sdk, { model: 'chat/m', input: 'First' })
    const events = async (query: object) => {
      const found: OpenAI.Responses.ResponseStreamEvent[] = []
      for await (const event of await sdk.responses.retrieve(answer.id, { stream: true, ...query })) found.push(event)
      return found
    }
    const all = await events({})
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index))
    expect(all[0]?.type).toBe('response.created')
    const last = all.at(-1)
    expect(last).toMatchObject({ type: 'response.completed', response: { id: answer.id, output: answer.output } })
    expect(await events({ starting_after: 2 })).toEqual(all.slice(3))
    // A number of the first stream, which had more events: the whole response is in the last one.
    expect(await events({ starting_after: 999 })).toEqual([last])
  })

  it('refuses values that mean nothing', async () => {
    await open([reply({ text: 'One.' })])
    const { id } = await create(client(), { model: 'chat/m', input: 'First' })
    for (const [query, param] of [
      ['stream=1', 'stream'],
      ['starting_after=1', 'starting_after'],
      ['stream=true&starting_after=-1', 'starting_after'],
    ]) {
      const { status, text } = await read(`${id}?${query}`)
      expect([query, status, JSON.parse(text).error.param]).toEqual([query, 400, param])
    }
  })
})

it.each([false, true])('shows texts as they were redacted, stream %s', async (stream) => {
  const settings = { guardrails: { enabled: true, secrets: { mode: 'redact' as const } } }
  const secret = 'ghp_9aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3w'
  await open([reply({ text: `Never write ${secret} down.` })], { config: { settings } })
  const ask = { model: 'chat/m', input: `Keep ${secret} safe.`, instructions: `Say ${secret} never.` }
  const { id } = await create(client(), ask, stream)
  for (const path of [id, `${id}?stream=true`, `${id}/input_items`]) {
    const { status, text } = await read(path)
    expect(status).toBe(200)
    expect(text).not.toContain(secret)
    expect(text).toContain('[SECRET_REDACTED]')
  }
})

it('answers unknown, forged, foreign, expired and deleted ids with the same 404', async () => {
  await open([reply({ text: 'One.' })])
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const { id } = await create(client(alice.key), { model: 'chat/m', input: 'First' })
  const gone = await create(client(alice.key), { model: 'chat/m', input: 'Second' })
  await client(alice.key).responses.delete(gone.id)
  const cases = [
    ['resp_0123456789', alice.key],
    [id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), alice.key],
    [id, bob.key],
    [gone.id, alice.key],
  ] as const
  const shown = async ([asked, key]: readonly [string, string], tail: string) => {
    const { status, text } = await read(asked + tail, key)
    return [status, text.replaceAll(asked, 'ID').replace(/req_[\w-]+/g, 'REQ')]
  }
  for (const tail of ['', '?stream=true', '/input_items']) {
    const seen = await Promise.all(cases.map((one) => shown(one, tail)))
    expect(seen[0]?.[0]).toBe(404)
    expect(seen[0]?.[1]).toContain('response_not_found')
    for (const one of seen) expect(one).toEqual(seen[0])
    clock.jump(31 * 24)
    expect(await shown([id, alice.key], tail)).toEqual(seen[0])
    clock.jump(-31 * 24)
  }
  expect((await read(id, alice.key)).status).toBe(200)
})

it('does not show the response of a key to a call without one', async () => {
  await open([reply({ text: 'One.' })])
  const { key } = await makeKey(t)
  const { id } = await create(client(key), { model: 'chat/m', input: 'First' })
  expect((await read(id)).status).toBe(404)
  expect((await read(id, key)).status).toBe(200)
})

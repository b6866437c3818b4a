// /v1/conversations, and `conversation` of a response.
import OpenAI from 'openai'
import { afterEach, expect, it } from 'vitest'
import { reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { wallClock } from '../budgets/support.ts'
import { makeKey } from '../keys/support.ts'

let t: TestGateway
let clock = wallClock()
afterEach(() => t.close())

async function open(...upstream: Step[]): Promise<void> {
  clock = wallClock()
  t = await createTestGateway({ upstream, ports: { clock } })
}

function client(key = 'none'): OpenAI {
  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(url))
    return t.fetch(pathname + search, init)
  }
  return new OpenAI({ apiKey: key, baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 0 })
}

async function create(sdk: OpenAI, body: object, stream: boolean): Promise<OpenAI.Responses.Response> {
  const settled = t.settled.length
  let answer: OpenAI.Responses.Response | undefined
  const ask = { model: 'chat/m', ...body } as OpenAI.Responses.ResponseCreateParamsNonStreaming
  if (stream) {
    for await (const event of await sdk.responses.create({ ...ask, stream: true }))
      if (event.type === 'response.completed') answer = event.response
  } else answer = await sdk.responses.create(ask)
  await t.untilCommitted(settled + 1)
  return answer as OpenAI.Responses.Response
}

const USER = { type: 'message', role: 'user', content: 'Hello' } as const

it('is created, read, changed and deleted', async () => {
  await open(reply({ text: 'One.' }))
  const sdk = client()
  const made = await sdk.conversations.create({ metadata: { topic: 'demo' }, items: [USER] })
  expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'demo' } })
  expect(await sdk.conversations.retrieve(made.id)).toMatchObject({ id: made.id, metadata: { topic: 'demo' } })
  expect(await sdk.conversations.update(made.id, { metadata: { topic: 'other' } })).toMatchObject({
    metadata: { topic: 'other' },
  })
  const { data } = await sdk.conversations.items.list(made.id)
  expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }])
  const id = data[0]?.id as string
  expect(await sdk.conversations.items.retrieve(id, { conversation_id: made.id })).toMatchObject({ id })
  const added = await sdk.conversations.items.create(made.id, { items: [{ ...USER, content: 'More' }] })
  expect(added.data).toMatchObject([{ content: [{ text: 'More' }] }])
  expect(await sdk.conversations.items.delete(id, { conversation_id: made.id })).toMatchObject({ id: made.id })
  expect((await sdk.conversations.items.list(made.id)).data).toHaveLength(1)
  expect(await sdk.conversations.delete(made.id)).toEqual(expect.objectContaining({ id: made.id, deleted: true }))
  await expect(sdk.conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: 'conversation_not_found' })
})

it.each([false, true])('gets the items of each response, on every upstream, stream %s', async (stream) => {
  await open(
    reply({ toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Rome"}' }] }),
    reply({ text: 'Sunny.' }),
    reply({ text: 'Bye.' }),
  )
  const sdk = client()
  const { id } = await sdk.conversations.create()
  const first = await create(sdk, { conversation: id, input: 'Weather in Rome?' }, stream)
  expect(first.conversation).toEqual({ id })
  const result = { type: 'function_call_output', call_id: 'call_1', output: '25 degrees' }
  await create(sdk, { model: 'messages/m', conversation: { id }, input: [result] }, stream)
  await create(sdk, { model: 'responses/m', conversation: id, input: 'Thanks' }, stream)
  const sent = t.upstream.requests.at(-1)
  expect(sent?.json).not.toHaveProperty('conversation')
  const places = ['Weather in Rome?', '25 degrees', 'Sunny.', 'Thanks'].map((text) => sent?.text.indexOf(text) ?? -1)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
  const { data } = await sdk.conversations.items.list(id, { order: 'asc' })
  expect(data.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'message',
    'message',
    'message',
  ])
  await expect(create(sdk, { previous_response_id: first.id, input: 'No' }, false)).rejects.toMatchObject({ status: 400 })
})

it('keeps items of a response that is not stored itself', async () => {
  await open(reply({ text: 'One.' }))
  const sdk = client()
  const { id } = await sdk.conversations.create()
  const answer = await create(sdk, { conversation: id, input: 'Hi', store: false }, false)
  expect(answer).toMatchObject({ store: false })
  expect((await sdk.conversations.items.list(id)).data).toHaveLength(2)
  await expect(sdk.responses.retrieve(answer.id)).rejects.toMatchObject({ status: 404 })
})

it('refuses two histories, and a conversation that is unknown, forged, expired or of another key', async () => {
  await open(reply({ text: 'One.' }))
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const sdk = client(alice.key)
  const { id } = await sdk.conversations.create({ items: [USER] })
  const { id: previous } = await create(sdk, { input: 'Hi' }, false)
  const both = { conversation: id, previous_response_id: previous, input: 'Hi' }
  await expect(create(sdk, both, false)).rejects.toMatchObject({ status: 400, code: 'mutually_exclusive_parameters' })
  await expect(create(sdk, { ...both, conversation: 'conv_other' }, false)).rejects.toMatchObject({ status: 400 })
  const forged = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const notFound = { status: 404, code: 'conversation_not_found' }
  for (const [key, asked] of [
    [alice.key, forged],
    [bob.key, id],
  ] as const) {
    const other = client(key)
    await expect(create(other, { conversation: asked, input: 'Hi' }, false)).rejects.toMatchObject(notFound)
    await expect(other.conversations.retrieve(asked)).rejects.toMatchObject(notFound)
    await expect(other.conversations.items.list(asked)).rejects.toMatchObject(notFound)
    await expect(other.conversations.items.create(asked, { items: [USER] })).rejects.toMatchObject(notFound)
    await expect(other.conversations.delete(asked)).rejects.toMatchObject(notFound)
  }
  clock.jump(31 * 24)
  await expect(sdk.conversations.retrieve(id)).rejects.toMatchObject(notFound)
})

it('refuses items and metadata that are no such', async () => {
  await open()
  const bad = async (path: string, body: object) => {
    const response = await t.post(`/v1/conversations${path}`, body)
    const { error } = (await response.json()) as { error: { param: string } }
    return [response.status, error.param]
  }
  expect(await bad('', { metadata: { a: 1 } })).toEqual([400, 'metadata'])
  expect(await bad('', { items: 'x' })).toEqual([400, 'items'])
  expect(await bad('', { items: Array.from({ length: 21 }, () => USER) })).toEqual([400, 'items'])
})

it('has the turn before also when the next request comes at once', async () => {
  t = await createTestGateway({ upstream: [reply({ text: 'One.' })] })
  const sdk = client()
  const { id } = await sdk.conversations.create()
  for (let turn = 1; turn <= 5; turn++) {
    await sdk.responses.create({ model: 'chat/m', conversation: id, input: `Question ${turn}` })
    for (let before = 1; before <= turn; before++) expect(t.upstream.requests.at(-1)?.text).toContain(`Question ${before}`)
  }
})

it('keeps the order of items that come in one millisecond, of requests and of turns', async () => {
  await open(reply({ text: 'Answer.' }))
  const sdk = client()
  const { id } = await sdk.conversations.create({ items: [{ ...USER, content: 'first' }] })
  const expected = ['first']
  for (let i = 0; i < 6; i++) {
    const texts = [`${i}a`, `${i}b`]
    await sdk.conversations.items.create(id, { items: texts.map((content) => ({ ...USER, content })) })
    await create(sdk, { conversation: id, input: `${i}c` }, false)
    expected.push(...texts, `${i}c`, 'Answer.')
  }
  const { data } = await sdk.conversations.items.list(id, { order: 'asc', limit: 100 })
  const texts = data.map((item) => (item.type === 'message' ? (item.content[0] as { text: string }).text : item.type))
  expect(texts).toEqual(expected)
})

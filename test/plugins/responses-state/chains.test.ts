// Stored turns: a conversation continues by `previous_response_id` and `item_reference` on upstreams that store nothing.
import { afterEach, describe, expect, it } from 'vitest'
import { reply, type Step } from '../../../adapters/testing/script.ts'
import type { TestGateway, TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { makeKey } from '../keys/support.ts'
import { type Storing, storingGateway } from './support.ts'

interface Item {
  id: string
  type: string
  call_id?: string
  [member: string]: unknown
}
interface Answer {
  id: string
  store: boolean
  previous_response_id: string | null
  output: Item[]
}

let t: TestGateway
let db: Db
let clock: Storing['clock']
afterEach(() => t.close())

async function open(upstream: Step[], options: TestGatewayOptions = {}): Promise<void> {
  const env = { RESPONSES_STATE: 'true', ...options.env }
  ;({ t, db, clock } = await storingGateway({ ...options, upstream, env }))
}

async function send(body: object, key?: string): Promise<{ status: number; body: Answer & { error: { code: string } } }> {
  const settled = t.settled.length
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const response = await t.post('/v1/responses', { model: 'chat/m', ...body }, headers as Record<string, string>)
  const text = await response.text()
  await t.untilCommitted(settled + 1)
  if (!text.startsWith('event:')) return { status: response.status, body: JSON.parse(text) }
  const last = text.trim().split('\n\n').at(-1) ?? ''
  return { status: response.status, body: JSON.parse(last.slice(last.indexOf('{'))).response }
}

const rows = async () => (await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM responses_state`))?.n
const sent = () => JSON.stringify(t.upstream.requests.at(-1)?.json)
const call: Step = reply({ toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Rome"}' }] })
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]

describe.each(['chat', 'messages', 'generate_content'])('over %s', (dialect) => {
  it.each([false, true])('a tool session of three turns continues by the id alone, stream %s', async (stream) => {
    await open([call, reply({ text: 'Sunny.' }), reply({ text: 'You are welcome.' })])
    const model = `${dialect}/m`
    const first = await send({ model, input: 'Weather in Rome?', tools, stream, instructions: 'Be brief.' })
    expect(first.body).toMatchObject({ id: expect.stringMatching(/^resp_gw/), store: true, previous_response_id: null })
    const output = { type: 'function_call_output', call_id: first.body.output.at(-1)?.call_id, output: '25 degrees' }
    const second = await send({ model, previous_response_id: first.body.id, input: [output], tools, stream })
    expect(second).toMatchObject({ status: 200, body: { previous_response_id: first.body.id, store: true } })
    const asked = sent()
    for (const text of ['Weather in Rome?', 'weather', 'Rome', '25 degrees']) expect(asked).toContain(text)
    // Instructions are not inherited.
    expect(asked).not.toContain('Be brief.')
    const third = await send({ model, previous_response_id: second.body.id, input: 'Thanks!', stream })
    expect(third.status).toBe(200)
    const whole = sent()
    const places = ['Weather in Rome?', '25 degrees', 'Sunny.', 'Thanks!'].map((text) => whole.indexOf(text))
    expect(places.every((place, index) => place > (places[index - 1] ?? -1))).toBe(true)
    expect(await rows()).toBe(3)
  })

  it.each([false, true])('items are found by reference, stream %s', async (stream) => {
    await open([call, reply({ text: 'Sunny.' })])
    const model = `${dialect}/m`
    const { body } = await send({ model, input: 'Weather in Rome?', tools, stream })
    const references = body.output.map(({ id }) => ({ type: 'item_reference', id }))
    const result = { type: 'function_call_output', call_id: body.output.at(-1)?.call_id, output: '25 degrees' }
    const input = [{ role: 'user', content: 'Weather in Rome?' }, ...references, result]
    expect(await send({ model, input, tools, stream })).toMatchObject({ status: 200 })
    expect(sent()).toContain('Rome')
    expect(sent()).toContain('25 degrees')
  })
})

it('continues on an upstream of the same dialect, which gets the whole conversation', async () => {
  await open([reply({ text: 'One.' }), reply({ text: 'Two.' })])
  const { body } = await send({ input: 'First' })
  expect((await send({ model: 'responses/m', previous_response_id: body.id, input: 'Second' })).status).toBe(200)
  expect(t.upstream.requests.at(-1)?.json).not.toHaveProperty('previous_response_id')
  for (const text of ['First', 'One.', 'Second']) expect(sent()).toContain(text)
})

it('sends the same prefix turn over turn', async () => {
  await open([reply({ text: 'One.' }), reply({ text: 'Two.' }), reply({ text: 'Three.' })])
  let previous: string | undefined
  const prompts: unknown[][] = []
  for (const input of ['a', 'b', 'c']) {
    const { body } = await send({ input, ...(previous === undefined ? {} : { previous_response_id: previous }) })
    previous = body.id
    prompts.push(t.upstream.requests.at(-1)?.json.messages as unknown[])
  }
  for (const [index, prompt] of prompts.entries())
    if (index > 0) expect(prompt.slice(0, prompts[index - 1]?.length)).toEqual(prompts[index - 1])
})

it('writes nothing for `store: false`', async () => {
  await open([reply({ text: 'One.' })])
  const { body } = await send({ input: 'First', store: false })
  expect(body.store).toBe(false)
  expect(body.id).not.toMatch(/^resp_gw/)
  expect(await rows()).toBe(0)
})

it('stores neither text of the conversation in the clear nor a turn above the limit', async () => {
  await open([reply({ text: 'A secret answer.' })], { env: { RESPONSES_STATE_MAX_BYTES: '2000' } })
  await send({ input: 'A secret question.' })
  const [row] = await db.all(sql`SELECT * FROM responses_state`)
  expect(JSON.stringify(row)).not.toMatch(/secret/)
  const large = await t.post('/v1/responses', { model: 'chat/m', input: 'x'.repeat(3000) })
  expect(large.status).toBe(200)
  expect(large.headers.get('x-gateway-warnings')).toContain('response_not_stored')
  expect(((await large.json()) as Answer).store).toBe(false)
  expect(await rows()).toBe(1)
})

describe('one and the same 400', () => {
  const notFound = { status: 400, body: { error: { code: 'previous_response_not_found' } } }

  it('answers unknown, forged, foreign and expired ids', async () => {
    await open([reply({ text: 'One.' })])
    const [alice, bob] = [await makeKey(t), await makeKey(t)]
    const { body } = await send({ input: 'First' }, alice.key)
    const asked = t.upstream.requests.length
    const ask = (id: string, key: string) => send({ previous_response_id: id, input: 'Second' }, key)
    const forged = body.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    expect(await ask(forged, alice.key)).toMatchObject(notFound)
    expect(await settling(ask(body.id, bob.key))).toMatchObject(notFound)
    clock.jump(31 * 24)
    expect(await settling(ask(body.id, alice.key))).toMatchObject(notFound)
    expect(t.upstream.requests).toHaveLength(asked)
  })

  it('answers an item reference that is not there', async () => {
    await open([reply({ text: 'One.' })])
    const [alice, bob] = [await makeKey(t), await makeKey(t)]
    const { body } = await send({ input: 'First' }, alice.key)
    const input = [{ type: 'item_reference', id: body.output[0]?.id }]
    expect(await settling(send({ input }, bob.key))).toMatchObject(notFound)
    expect((await send({ input }, alice.key)).status).toBe(200)
  })
})

it('is deleted by its own key only, and later turns cannot be continued then', async () => {
  await open([reply({ text: 'One.' })])
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const first = (await send({ input: 'First' }, alice.key)).body
  const second = (await send({ previous_response_id: first.id, input: 'Second' }, alice.key)).body
  const remove = async (id: string, key: string) => {
    const response = await t.fetch(`/v1/responses/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })
    return { status: response.status, body: await response.json() }
  }
  const foreign = await remove(first.id, bob.key)
  expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'response_not_found' } } })
  expect(
    await remove(
      first.id.replace(/.$/, (last: string) => (last === 'e' ? 'f' : 'e')),
      alice.key,
    ),
  ).toMatchObject({ status: 404 })
  expect(await remove(first.id, alice.key)).toEqual({ status: 200, body: { id: first.id, object: 'response', deleted: true } })
  expect(await remove(first.id, alice.key)).toEqual(foreign)
  const asking = settling(send({ previous_response_id: second.id, input: 'Third' }, alice.key))
  expect(await asking).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_found' } } })
})

it('may be shared by the keys of an organization', async () => {
  await open([reply({ text: 'One.' })], { env: { RESPONSES_STATE_SHARE: 'org' } })
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const { body } = await send({ input: 'First' }, alice.key)
  expect((await send({ previous_response_id: body.id, input: 'Second' }, bob.key)).status).toBe(200)
})

it('is off by default: nothing is stored', async () => {
  await open([reply({ text: 'One.' })], { env: { RESPONSES_STATE: 'false' } })
  const { body } = await send({ input: 'First' })
  expect(body.store).toBe(false)
  expect(await rows()).toBe(0)
})

/** A look-up that misses waits for a settlement under way: the clock passes that time. */
async function settling<T>(asking: Promise<T>): Promise<T> {
  let done = false
  void asking.finally(() => {
    done = true
  })
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(50)
  }
  return asking
}

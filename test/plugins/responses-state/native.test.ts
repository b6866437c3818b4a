// Upstreams that speak responses store their own answers. The gateway's ids hide theirs, and a conversation goes on where they are not known.
import { afterEach, describe, expect, it } from 'vitest'
import { choose, fail, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { type StatefulResponses, said, statefulResponses } from '../../support/stateful-responses.ts'
import { wallClock } from '../budgets/support.ts'

interface Item {
  id: string
  type: string
  [member: string]: unknown
}
interface Answer {
  id: string
  store: boolean
  previous_response_id: string | null
  output: Item[]
  error?: { code: string }
}

let t: TestGateway
let vendor: StatefulResponses
afterEach(() => t.close())

const THOUGHT = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed-by-vendor' }
const SEARCH = { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'Rome' } }

/** `down`: the turns at which the vendor's upstream fails. */
async function open(options: TestGatewayOptions & { down?: () => boolean } = {}): Promise<void> {
  const { down = () => false, ...rest } = options
  vendor = statefulResponses((turn) => [THOUGHT, SEARCH, said(`Answer ${turn}.`)])
  const upstream = [
    choose((request) => {
      if (request.dialect !== 'responses') return reply({ text: 'Translated.' })
      return down() ? fail(500) : vendor.step.kind === 'choose' ? vendor.step.choose(request) : vendor.step
    }),
  ]
  t = await createTestGateway({ upstream, ports: { clock: wallClock() }, ...rest })
}

async function send(body: object): Promise<{ status: number; text: string; answer: Answer }> {
  const settled = t.settled.length
  const response = await t.post('/v1/responses', { model: 'responses/m', ...body })
  const text = await response.text()
  await t.untilCommitted(settled + 1)
  const last = text.startsWith('event:') ? (text.trim().split('\n\n').at(-1) ?? '') : text
  const json = JSON.parse(last.slice(last.indexOf('{')))
  return { status: response.status, text, answer: json.response ?? json }
}

const lastSent = () => t.upstream.requests.at(-1) as { text: string; json: Record<string, unknown> }
/** The ids of both sides in their order. */
const withoutIds = (text: string) => text.replace(/[a-z]{2,4}_(?:gw|vendor)\w+/g, 'ID')

describe.each([false, true])('stream %s', (stream) => {
  it('changes the ids in an answer and nothing else', async () => {
    await open()
    const { text, answer } = await send({ input: 'Hello', stream })
    expect(text).not.toContain('vendor1')
    expect(answer.id).toMatch(/^resp_gw/)
    expect(withoutIds(text)).toBe(withoutIds(vendor.sent[0] as string))
    for (const item of answer.output) expect(item.id).toMatch(/^(rs|ws|msg)_gw/)
  })

  it('sends the upstream its own id back, and the new input only', async () => {
    await open()
    const first = (await send({ input: 'One', stream })).answer
    const body = `{"model":"responses/m","previous_response_id":"${first.id}","input":"Two","stream":${stream},"own":12345678901234567890}`
    const response = await t.post('/v1/responses', body)
    const text = await response.text()
    expect(lastSent().text).toBe(
      `{"model":"m","previous_response_id":"resp_vendor00000000000000000001","input":"Two","stream":${stream},"own":12345678901234567890}`,
    )
    expect(text).toContain(`"previous_response_id":${stream ? '' : ' '}"${first.id}"`)
    expect(text).not.toContain('_vendor')
  })

  it('continues on another upstream with the whole conversation, and back again', async () => {
    await open()
    const first = (await send({ input: 'One', stream })).answer
    const second = (await send({ input: 'Two', stream, previous_response_id: first.id })).answer
    const third = (await send({ model: 'chat/m', input: 'Three', stream, previous_response_id: second.id })).answer
    expect(lastSent().json.messages).toMatchObject([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Answer 1.' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Answer 2.' },
      { role: 'user', content: 'Three' },
    ])
    const fourth = await send({ input: 'Four', stream, previous_response_id: third.id })
    expect(fourth.answer.previous_response_id).toBe(third.id)
    expect(lastSent().json).not.toHaveProperty('previous_response_id')
    const texts = vendor.prompts.at(-1)?.map(({ content }) => JSON.stringify(content))
    for (const text of ['One', 'Answer 1.', 'Two', 'Answer 2.', 'Three', 'Translated.', 'Four'])
      expect(texts?.some((one) => one?.includes(text))).toBe(true)
    // Only the account that made a thought can open it.
    expect(lastSent().text).not.toContain('sealed-by-vendor')
  })

  it('fails over from the upstream that stored the conversation to one that did not', async () => {
    let down = false
    const route = { targets: ['responses/m', 'chat/m'], strategy: 'failover' as const }
    await open({ down: () => down, config: { virtualModels: { both: route } } as TestGatewayOptions['config'] })
    const model = 'both'
    const first = (await send({ model, input: 'One', stream })).answer
    const second = (await send({ model, input: 'Two', stream, previous_response_id: first.id })).answer
    expect(lastSent().json.previous_response_id).toMatch(/^resp_vendor/)
    down = true
    const third = await send({ model, input: 'Three', stream, previous_response_id: second.id })
    expect(third).toMatchObject({ status: 200, answer: { previous_response_id: second.id } })
    expect(lastSent().json.messages).toHaveLength(5)
    down = false
    const fourth = await send({ model, input: 'Four', stream, previous_response_id: third.answer.id })
    expect(fourth.status).toBe(200)
    expect(lastSent().json.input).toHaveLength(9)
  })

  it('sends the whole conversation when the upstream has forgotten it', async () => {
    await open()
    const first = (await send({ input: 'One', stream })).answer
    vendor.forget()
    const second = await send({ input: 'Two', stream, previous_response_id: first.id })
    expect(second).toMatchObject({ status: 200, answer: { previous_response_id: first.id } })
    expect(lastSent().json).not.toHaveProperty('previous_response_id')
    expect(JSON.stringify(lastSent().json.input)).toContain('Answer 1.')
  })

  it('maps references and items that the caller sends whole', async () => {
    await open()
    const { output } = (await send({ input: 'One', stream })).answer
    const references = output.map(({ id }) => ({ type: 'item_reference', id }))
    const user = { role: 'user', content: 'Two' }
    expect((await send({ input: [...references, user], stream })).status).toBe(200)
    expect(lastSent().text).not.toContain('_gw')
    expect(vendor.prompts.at(-1)).toMatchObject([THOUGHT, SEARCH, { content: [{ text: 'Answer 1.' }] }, user])
    expect((await send({ input: [...output, user], stream })).status).toBe(200)
    expect((lastSent().json.input as Item[]).map(({ id }) => id).slice(0, 3)).toEqual(
      output.map((_, i) => expect.stringMatching(`vendor1x${i}$`)),
    )
    // Another account does not know the ids.
    expect((await send({ model: 'chat/m', input: [...references, user], stream })).status).toBe(200)
    expect(lastSent().text).toContain('Answer 1.')
  })
})

it('reads a native answer again, without a call', async () => {
  await open()
  const { answer } = await send({ input: 'One' })
  const response = await t.fetch(`/v1/responses/${answer.id}`)
  expect(await response.json()).toEqual(answer)
  expect(t.upstream.requests).toHaveLength(1)
})

it('leaves an answer with `store: false` as the upstream wrote it', async () => {
  await open()
  const { text } = await send({ input: 'One', store: false })
  expect(text).toBe(vendor.sent[0])
})

it('has the upstream not store what the gateway cannot name', async () => {
  await open({ env: { RESPONSES_STATE_MAX_BYTES: '2000' } })
  const { answer } = await send({ input: 'x'.repeat(3000) })
  expect(lastSent().json.store).toBe(false)
  expect(answer.store).toBe(false)
})

it.each([false, true])('says that an answer above the limit is not stored, stream %s', async (stream) => {
  await open({ env: { RESPONSES_STATE_MAX_BYTES: '1500' } })
  const { answer } = await send({ input: 'x'.repeat(1000), stream })
  expect(answer.store).toBe(false)
  const again = await t.fetch(`/v1/responses/${answer.id}`)
  expect(again.status).toBe(404)
})

describe('counts tokens', () => {
  it('at the upstream that stored the conversation', async () => {
    await open()
    const { answer } = await send({ input: 'One' })
    const response = await t.post('/v1/responses/input_tokens', {
      model: 'responses/m',
      input: 'Two',
      previous_response_id: answer.id,
    })
    expect(await response.json()).toEqual({ object: 'response.input_tokens', input_tokens: 77 })
    expect(lastSent().json.previous_response_id).toMatch(/^resp_vendor/)
  })

  it('by an estimate of the whole conversation elsewhere', async () => {
    await open()
    const { answer } = await send({ input: 'One '.repeat(500) })
    const count = async (body: object) => {
      const response = await t.post('/v1/responses/input_tokens', { model: 'chat/m', input: 'Two', ...body })
      expect(response.headers.get('x-gateway-warnings')).toContain('estimated_tokens')
      return ((await response.json()) as { input_tokens: number }).input_tokens
    }
    expect(await count({ previous_response_id: answer.id })).toBeGreaterThan((await count({})) + 400)
  })

  it('refuses an unknown id as a response does', async () => {
    await open()
    for (const path of ['/v1/responses', '/v1/responses/input_tokens']) {
      const response = await t.post(path, { model: 'chat/m', input: 'Two', previous_response_id: 'resp_0123' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: { code: 'previous_response_not_found', param: 'previous_response_id' },
      })
    }
  })
})

// Every body and event of /v1/responses has what the published schema of Open Responses requires: on HTTP, on a WebSocket, stored and in the
// background.
import { WebSocket } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { checkStream, responseSchema, socketErrorSchema } from '../../support/open-responses.ts'

let t: TestGateway
afterEach(() => t.close())

const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
const ANSWERS: Record<string, Step> = {
  text: reply({ text: 'one two three' }),
  'a call': reply({ text: 'Let me see.', toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Rome"}' }] }),
  thoughts: reply({ reasoning: { text: 'Hm. So.', signature: 'c2lnbmF0dXJl' }, text: 'Yes.' }),
  'a refusal': reply({ refusal: 'No.', finish: 'refusal' }),
  'a limit': reply({ text: 'one two', finish: 'length' }),
}
const CASES = ['chat', 'messages', 'generate_content', 'responses'].flatMap((dialect) =>
  Object.keys(ANSWERS).map((name) => [dialect, name] as const),
)

const framesOf = (text: string): unknown[] =>
  text.split('\n\n').flatMap((frame) => (frame.startsWith('event:') ? [JSON.parse(frame.slice(frame.indexOf('{')))] : []))

async function ask(body: object): Promise<string> {
  const response = await t.post('/v1/responses', body)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  await t.gateway.committed()
  return text
}

const read = async (path: string) => (await t.fetch(`/v1/responses/${path}`)).text()

describe.each(CASES)('over %s, %s', (dialect, name) => {
  it('on HTTP: whole, as a stream, stored and in the background', async () => {
    t = await createTestGateway({ upstream: [ANSWERS[name] as Step] })
    const body = { model: `${dialect}/m`, input: 'Hello', tools }
    const whole = responseSchema.parse(JSON.parse(await ask(body)))
    checkStream(framesOf(await ask({ ...body, stream: true })))
    responseSchema.parse(JSON.parse(await ask({ ...body, store: false, previous_response_id: whole.id })))
    responseSchema.parse(JSON.parse(await read(whole.id)))
    checkStream(framesOf(await read(`${whole.id}?stream=true`)))
    const queued = responseSchema.parse(JSON.parse(await ask({ ...body, background: true })))
    checkStream(framesOf(await read(`${queued.id}?stream=true`)))
    expect(responseSchema.parse(JSON.parse(await read(queued.id))).status).toMatch(/^(?:completed|incomplete)$/)
  })

  it('on a socket', async () => {
    t = await createTestGateway({ upstream: [ANSWERS[name] as Step] })
    const events = await onSocket(
      `{"type":"response.create","model":"${dialect}/m","input":"Hello","tools":${JSON.stringify(tools)}}`,
    )
    checkStream(events)
  })
})

it('a response that failed in the background', async () => {
  t = await createTestGateway({ upstream: [fail(500)] })
  const { id } = JSON.parse(await ask({ model: 'chat/m', input: 'Hello', background: true })) as { id: string }
  checkStream(framesOf(await read(`${id}?stream=true`)))
  expect(responseSchema.parse(JSON.parse(await read(id)))).toMatchObject({ status: 'failed' })
})

it('`generate: false`, and each refusal on a socket', async () => {
  t = await createTestGateway({ upstream: [fail(429), fail(400), fail(500)] })
  checkStream(
    await onSocket(`{"type":"response.create","model":"chat/m","input":"x","generate":false,"tools":${JSON.stringify(tools)}}`),
  )
  const create = (members: string) => `{"type":"response.create","model":"chat/m",${members}}`
  for (const message of [
    '{',
    '[]',
    '{"type":"x"}',
    ...Array(3).fill(create('"input":"x"')),
    create('"input":5'),
    create('"input":"x","model":"none/x"'),
  ])
    socketErrorSchema.parse((await onSocket(message))[0])
})

/** Sends one message and returns those of its answer. */
async function onSocket(message: string): Promise<unknown[]> {
  const { url } = await t.listen()
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
  const got: { type: string }[] = []
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => socket.send(message)
    socket.onerror = () => reject(new Error('The socket failed.'))
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as { type: string }
      got.push(event)
      if (/^(?:error|response\.(?:completed|failed|incomplete))$/.test(event.type)) resolve()
    }
  })
  socket.close()
  return got
}

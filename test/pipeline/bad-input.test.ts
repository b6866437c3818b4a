// Invalid client input: each gets a status, a code and the envelope of its dialect, and the process stays up.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../adapters/testing/index.ts'
import { expectWithin, timed } from '../support/in-time.ts'
import { ENDPOINTS, type Endpoint } from './support/endpoints.ts'
import { envelopeOf, routeDialect } from './support/envelope.ts'

let t: TestGateway
const LIMIT = 20_000
beforeAll(async () => {
  t = await createTestGateway({ env: { MAX_BODY_BYTES: String(LIMIT) }, upstream: [text('fine')] })
})
afterAll(async () => {
  // It still answers after all of this.
  expect((await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })).status).toBe(
    200,
  )
  await t.close()
})

const PLAIN = ENDPOINTS.filter(({ stream, name }) => !stream && !name.startsWith('chat with'))
const at = (endpoint: Endpoint, model = 'chat/m') => endpoint.request(model)

async function refused(endpoint: Endpoint, body: string | Uint8Array, status: number, headers: Record<string, string> = {}) {
  const response = await t.fetch(at(endpoint).path, {
    method: 'POST',
    body: body as BodyInit,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const answer = await response.text()
  expect([response.status, answer]).toEqual([status, expect.any(String)])
  expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/)
  return envelopeOf(routeDialect(endpoint), answer)
}

describe('bodies that are no JSON object', () => {
  const BROKEN: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['white space', ' \n '],
    ['a text', 'hello'],
    ['a list', '[{"model":"chat/m"}]'],
    ['null', 'null'],
    ['a number', '42'],
    ['an open object', '{"model":"chat/m"'],
    ['an open string', '{"model":"chat/m'],
    ['a trailing comma', '{"model":"chat/m",}'],
    ['two objects', '{"model":"chat/m"}{"a":1}'],
    ['single quotes', "{'model':'chat/m'}"],
    ['a comment', '{"model":"chat/m"/* x */}'],
    ['a bad escape', '{"model":"\\x"}'],
    ['a control character', '{"model":"a\u0001"}'],
    ['a bare NaN', '{"model":"chat/m","temperature":NaN}'],
    ['a number with a leading zero', '{"model":"chat/m","temperature":01}'],
    ['a NUL behind it', '{"model":"chat/m"}\u0000'],
    ['bytes', new Uint8Array([0xff, 0xfe, 0x00, 0x7b])],
    ['a form', 'model=chat%2Fm&stream=true'],
  ]
  it.each(PLAIN)('$name: 400, code null', async (endpoint) => {
    for (const [title, body] of BROKEN) {
      const error = await refused(endpoint, body, 400)
      expect([title, error.type, error.code]).toEqual([title, 'invalid_request_error', null])
    }
  })

  it.each(PLAIN)('$name: duplicate keys are refused at any depth', async (endpoint) => {
    for (const body of [
      '{"model":"chat/a","model":"chat/b"}',
      '{"model":"chat/m","x":{"a":1,"b":[{"c":1,"c":2}]}}',
      '{"a":1,"\\u0061":2}',
    ]) {
      const error = await refused(endpoint, body, 400)
      expect([error.code, error.message]).toEqual([null, expect.stringMatching(/twice|duplicate|repeat/i)])
    }
  })

  it.each(PLAIN)('$name: nesting is bounded, and cheap to refuse', async (endpoint) => {
    for (const depth of [129, 2000, 9000])
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const body = `{"model":"chat/m","x":${open.repeat(depth)}1${close.repeat(depth)}}`
        if (body.length > LIMIT) continue
        const refuse = async () => expect((await refused(endpoint, body, 400)).message).toMatch(/nested/)
        await expectWithin(100, () => timed(refuse))
      }
  })
})

describe('members of the wrong type', () => {
  it('model: required, a non-empty string, printable, at most 256 characters', async () => {
    for (const endpoint of PLAIN.filter(({ caller }) => caller !== 'generate_content')) {
      const { body } = at(endpoint)
      for (const model of [
        undefined,
        null,
        '',
        7,
        true,
        ['chat/m'],
        { id: 'chat/m' },
        'x'.repeat(257),
        'chat/\u0007m',
        'chat/m\n',
      ]) {
        const error = await refused(endpoint, JSON.stringify({ ...body, model }), 400)
        expect([model, error.param, error.code]).toEqual([model, 'model', null])
      }
    }
  })

  it('stream: a boolean or null', async () => {
    for (const endpoint of PLAIN.filter(({ operation, caller }) => operation === 'chat' && caller !== 'generate_content')) {
      for (const stream of ['true', 1, [], {}]) {
        const error = await refused(endpoint, JSON.stringify({ ...at(endpoint).body, stream }), 400)
        expect([error.param, error.code]).toEqual(['stream', null])
      }
      const response = await t.post(at(endpoint).path, { ...at(endpoint).body, stream: null })
      expect(response.status).toBe(200)
    }
  })

  it('an unknown model or provider is 400 model_not_found, in the caller’s envelope', async () => {
    for (const endpoint of ENDPOINTS) {
      for (const model of ['nobody/gpt', 'gpt-4.1', 'chat/', '/m', 'CHAT/m', ' chat/m']) {
        const { path, body } = endpoint.request(model)
        const response = await t.post(path.replace('models/ chat', 'models/%20chat'), body)
        const error = envelopeOf(endpoint.caller, await response.text())
        expect([endpoint.name, model, response.status, error.param, error.code]).toEqual([
          endpoint.name,
          model,
          400,
          'model',
          'model_not_found',
        ])
      }
    }
  })
})

describe('chat validation: the first violation of the table wins', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const BAD = { messages: [], temperature: 3, top_p: -1, n: 0, max_tokens: 0, max_completion_tokens: 1.5, stream: 'yes' }
  const ORDER = Object.keys(BAD)
  const chat = PLAIN[0] as Endpoint

  it('in every combination of wrong members, in any order of the body; `stream` is no part of it and comes last', async () => {
    for (let mask = 1; mask < 128; mask++) {
      const wrong = ORDER.filter((_, bit) => mask & (1 << bit))
      const body = Object.fromEntries([...wrong].reverse().map((name) => [name, BAD[name as keyof typeof BAD]]))
      const error = await refused(
        chat,
        JSON.stringify({ ...(wrong.includes('messages') ? {} : { messages }), ...body, model: 'chat/m' }),
        400,
      )
      expect([error.type, error.param, error.code]).toEqual(['invalid_request_error', wrong[0], null])
    }
  })

  it.each([
    ['messages', [undefined, null, [], {}, 'hi', 0]],
    ['temperature', [-0.1, 2.1, '1', true, [], {}]],
    ['top_p', [-0.01, 1.01, '0.5', []]],
    ['n', [0, -1, 1.5, '1', true]],
    ['max_tokens', [0, -1, 2.5, '100', []]],
    ['max_completion_tokens', [0, -1, 2.5, '100', []]],
  ] as const)('%s', async (param, values) => {
    for (const value of values) {
      const body = { messages, model: 'chat/m', [param]: value }
      const error = await refused(chat, JSON.stringify(body), 400)
      expect([value, error.param, error.code]).toEqual([value, param, null])
    }
  })

  it('null is omission, bounds are inclusive, unknown members pass through', async () => {
    for (const good of [
      { temperature: null, top_p: null, n: null, max_tokens: null, max_completion_tokens: null, stream: null },
      { temperature: 0, top_p: 0, n: 1, max_tokens: 1, max_completion_tokens: 1 },
      { temperature: 2, top_p: 1, foo: { bar: [1] } },
    ]) {
      expect((await t.post('/v1/chat/completions', { model: 'chat/m', messages, ...good })).status).toBe(200)
    }
    expect(t.upstream.requests.at(-1)?.json.foo).toEqual({ bar: [1] })
  })

  it('a body with contents and no messages skips the table', async () => {
    const response = await t.post('/v1/chat/completions', {
      model: 'chat/m',
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      temperature: 9,
    })
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([
      200,
      expect.arrayContaining(['candidates']),
    ])
  })
})

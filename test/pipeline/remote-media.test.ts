// Media by URL for a target that accepts only inline media: a failure names the place in the caller's own body.
import { afterEach, describe, expect, it } from 'vitest'
import { text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../adapters/testing/test-gateway.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'

let t: TestGateway
afterEach(() => t.close())

const INWARD = 'http://127.0.0.1/cat.png'
const OTHER = 'https://example.com/other.png'

/** Each with the same URL as text first. */
const CALLS: [dialect: string, path: string, body: (url: string) => object, param: string][] = [
  [
    'chat',
    '/v1/chat/completions',
    (url) => ({
      messages: [
        { role: 'system', content: url },
        {
          role: 'user',
          content: [
            { type: 'text', text: url },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    }),
    'messages.1.content.1.image_url.url',
  ],
  [
    'messages',
    '/v1/messages',
    (url) => ({
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: url },
            { type: 'image', source: { type: 'url', url } },
          ],
        },
      ],
    }),
    'messages.0.content.1.source.url',
  ],
  [
    'responses',
    '/v1/responses',
    (url) => ({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: url },
            { type: 'input_image', image_url: url },
          ],
        },
      ],
    }),
    'input.0.content.1.image_url',
  ],
  [
    'generate_content',
    '/v1beta/models/generate_content%2Fm:generateContent',
    (url) => ({ contents: [{ role: 'user', parts: [{ text: url }, { fileData: { mimeType: 'image/png', fileUri: url } }] }] }),
    'contents.0.parts.1.fileData.fileUri',
  ],
]

/** So that the request is encoded again, also for a target of the caller's dialect. */
const editing = definePlugin({
  name: 'test-editing',
  setup: (gateway) => gateway.hook('request', (ctx) => void ctx.edit()),
})

async function refusal(path: string, body: object, options: TestGatewayOptions = {}) {
  t = await createTestGateway({ upstream: [text('never')], plugins: [editing()], ...options })
  const response = await t.post(path, { model: 'generate_content/m', ...body })
  const { error } = (await response.json()) as { error: { message: string; param: string } }
  expect(t.upstream.requests).toEqual([])
  return { status: response.status, param: error.param, message: error.message }
}

describe.each(CALLS)('%s', (dialect, path, body, param) => {
  const model = dialect === 'generate_content' ? { model: undefined } : {}

  it('an address that leads inward', async () => {
    const message = 'The URL does not lead to a public address.'
    expect(await refusal(path, { ...body(INWARD), ...model })).toEqual({ status: 400, param, message })
  })

  it('one that cannot be fetched', async () => {
    const fetchMedia = async () => {
      throw GatewayError.invalid('messages', 'not to be had')
    }
    const seen = await refusal(path, { ...body('https://example.com/cat.png'), ...model }, { ports: { fetchMedia } })
    expect(seen).toEqual({ status: 400, param, message: 'not to be had' })
  })

  it('one that a plugin wrote: the member that has the content', async () => {
    const writing = definePlugin({
      name: 'test-writing',
      setup: (gateway) =>
        gateway.hook(
          'request',
          (ctx) => {
            const message = ctx.edit().messages.at(-1)
            message?.parts.push({ t: 'image', src: { kind: 'url', url: OTHER } } as never)
          },
          { operation: 'chat' },
        ),
    })
    const fetchMedia = async (url: string) => {
      if (url === OTHER) throw GatewayError.invalid('messages', 'not to be had')
      return { mime: 'image/png', data: '' }
    }
    const own = { ...body('https://example.com/cat.png'), ...model }
    const seen = await refusal(path, own, { plugins: [writing()], ports: { fetchMedia } })
    expect([seen.status, seen.param]).toEqual([400, param.split('.')[0]])
  })
})

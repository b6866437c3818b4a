// Prompts that Google refuses: the status of its answer is 200, and there is no candidate.
import { afterEach, expect, it } from 'vitest'
import { raw } from '../../adapters/testing/index.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const refused = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4 } }
const part = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
const made = { candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }] }

const IMAGE = { model: 'google/gemini-2.5-flash-image', prompt: 'x' }

it.each([
  ['/v1/images/generations', IMAGE],
  ['/v1/audio/speech', { model: 'google/gemini-2.5-flash-preview-tts', input: 'x', voice: 'Kore' }],
])('%s: 400 with the reason, and no other connection is tried', async (path, body) => {
  v = await vendors(['google'], { upstream: [raw(200, JSON.stringify(refused))] })
  const response = await v.t.post(path, body)
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error', message: expect.stringContaining('PROHIBITED_CONTENT') } },
  ])
  expect(response.headers.get('x-gateway-attempts')).toBe('1')
  expect(v.vendor.requests).toHaveLength(1)
})

it('of two images the second one is refused: the first one arrives', async () => {
  v = await vendors(['google'], { upstream: [raw(200, JSON.stringify(made)), raw(200, JSON.stringify(refused))] })
  const response = await v.t.post('/v1/images/generations', { ...IMAGE, n: 2 })
  expect([response.status, await response.json()]).toMatchObject([200, { data: [{ b64_json: 'AAAA' }] }])
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome.usage).toMatchObject({ units: { images: 1 } })
})

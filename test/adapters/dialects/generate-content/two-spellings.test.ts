// Only members that the vendor reads may not come in two spellings.
import { expect, it } from 'vitest'
import { createTestGateway, reply } from '../../../../adapters/testing/index.ts'

const PATH = '/v1beta/models/generate_content%2Fm:generateContent'

it('arguments and results of calls have any names', async () => {
  const t = await createTestGateway()
  t.upstream.script(reply({ text: 'ok' }))
  const args = { inlineData: 1, inline_data: 2, googleSearch: 1, google_search: 2 }
  const contents = [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ function_call: { name: 'f', args } }] },
    { role: 'user', parts: [{ function_response: { name: 'f', response: args } }] },
  ]
  expect((await t.post(PATH, { contents })).status).toBe(200)
  expect((await t.post(PATH, { contents: [{ parts: [{ text: 'hi', functionCall: {}, function_call: {} }] }] })).status).toBe(400)
  expect(t.upstream.requests).toHaveLength(1)
  await t.close()
})

it.each([200, 300_000])('a name with escapes is the same name, in a body of %i bytes', async (bytes) => {
  const t = await createTestGateway()
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'x'.repeat(bytes), functionCall: {}, function_call: {} }] }] })
  const response = await t.fetch(PATH, { method: 'POST', body: body.replace('function_call', 'function\\u005fcall') })
  expect(response.status).toBe(400)
  expect(t.upstream.requests).toHaveLength(0)
  await t.close()
})

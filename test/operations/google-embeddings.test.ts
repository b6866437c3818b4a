// Embeddings for callers of Google's API: embedContent and batchEmbedContents, at every vendor.
import { GoogleGenAI } from '@google/genai'
import { afterEach, describe, expect, it } from 'vitest'
import { scriptedVector } from '../../adapters/testing/operations/vendor.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const STEMS = ['/v1beta/models/', '/v1/models/', '/v1beta/']
const VENDORS = ['google', 'openai', 'cohere', 'voyage'] as const
const start = async (env: Record<string, string> = {}) => {
  v = await vendors([...VENDORS], { env })
}
const text = (value: string) => ({ content: { parts: [{ text: value }] } })

describe.each(VENDORS)('at %s', (provider) => {
  it('the @google/genai SDK embeds one text and several', async () => {
    await start()
    const { port } = await v.t.listen()
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `http://127.0.0.1:${port}` } })
    const several = await client.models.embedContent({
      model: `${provider}/e`,
      contents: ['first', 'the second'],
      config: { taskType: 'RETRIEVAL_QUERY' },
    })
    expect(several.embeddings?.map(({ values }) => values)).toEqual([scriptedVector('first'), scriptedVector('the second')])
    const one = await client.models.embedContent({ model: `${provider}/e`, contents: 'first' })
    expect(one.embeddings?.map(({ values }) => values)).toEqual([scriptedVector('first')])
  })

  it.each(STEMS)('embedContent below %s', async (stem) => {
    await start()
    const response = await v.t.post(`${stem}${provider}/e:embedContent`, { ...text('first'), title: 'a title' })
    expect(response.status, await response.clone().text()).toBe(200)
    expect(await response.json()).toMatchObject({
      embedding: { values: scriptedVector('first') },
      usageMetadata: { promptTokenCount: expect.any(Number) },
    })
    expect(v.vendor.requests[0]?.text.includes('a title')).toBe(provider === 'google')
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.ctx.operation).toBe('embeddings')
    expect(v.t.settled[0]?.outcome.steps).toMatchObject([{ provider, model: 'e' }])
  })
})

it('the dimensions and the task reach the vendor under its own names', async () => {
  await start()
  const body = { ...text('first'), outputDimensionality: 2, taskType: 'RETRIEVAL_DOCUMENT' }
  await v.t.post('/v1beta/models/openai/e:embedContent', body)
  await v.t.post('/v1beta/models/voyage/e:embedContent', body)
  await v.t.post('/v1beta/models/google/e:embedContent', body)
  const [openai, voyage, google] = v.vendor.requests.map(({ json }) => json)
  expect(openai).toEqual({ model: 'e', input: 'first', dimensions: 2 })
  expect(voyage).toMatchObject({ output_dimension: 2, input_type: 'document' })
  expect(google).toEqual({ ...text('first'), outputDimensionality: 2, taskType: 'RETRIEVAL_DOCUMENT' })
})

it.each([
  ['embedContent', {}, 'content'],
  ['embedContent', { content: { parts: [] } }, 'content'],
  ['embedContent', { content: { parts: [{ inlineData: {} }] } }, 'content'],
  ['embedContent', { ...text('a'), outputDimensionality: 0 }, 'outputDimensionality'],
  ['batchEmbedContents', { requests: [] }, 'requests'],
  ['batchEmbedContents', { requests: [text('a'), 1] }, 'requests[1]'],
  ['batchEmbedContents', { requests: [text('a'), { ...text('b'), taskType: 'X' }] }, 'requests[1]'],
])('%s refuses %j in the shape of Google, naming `%s`', async (verb, body, param) => {
  await start()
  for (const stem of STEMS) {
    const response = await v.t.post(`${stem}openai/e:${verb}`, body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { code: number; status: string; message: string } }
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
    expect(error.message).toContain(`\`${param}`)
  }
  expect(v.vendor.requests).toHaveLength(0)
})

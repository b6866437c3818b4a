// POST /v1/embeddings: the official SDKs, and what each vendor is sent.
import { createOpenAI } from '@ai-sdk/openai'
import { embed, embedMany } from 'ai'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { fromBase64, toBase64 } from '../../adapters/operations/embeddings/vectors.ts'
import { scriptedVector } from '../../adapters/testing/operations/vendor.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

async function openai(): Promise<OpenAI> {
  const { port } = await v.t.listen()
  return new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
}

const ask = async (body: object) => {
  const response = await v.t.post('/v1/embeddings', body)
  return { status: response.status, json: (await response.json()) as Record<string, unknown>, headers: response.headers }
}

describe('the SDK of OpenAI', () => {
  it.each([
    'openai',
    'cohere',
    'google',
    'voyage',
    'mistral',
    'jina',
    'nvidia',
    'ollama',
  ])('gets the same vectors from %s, asked for base64, floats, or nothing', async (provider) => {
    v = await vendors([provider])
    const client = await openai()
    const model = `${provider}/e`
    const input = ['hello', 'a longer text']
    const expected = input.map((text) => scriptedVector(text))
    const unset = await client.embeddings.create({ model, input })
    expect(unset.data.map(({ embedding }) => embedding)).toEqual(expected)
    const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
    expect(floats.data.map(({ embedding, index }) => [index, embedding])).toEqual(expected.map((one, at) => [at, one]))
    const base64 = await client.embeddings.create({ model, input, encoding_format: 'base64' })
    expect(base64.data.map(({ embedding }) => embedding)).toEqual(expected.map(toBase64))
    expect(unset.usage.prompt_tokens).toBeGreaterThan(0)
    const [single] = (await client.embeddings.create({ model, input: 'hello' })).data
    expect(single?.embedding).toEqual(expected[0])
  })

  it('sends token lists on, and a vendor with another tokenizer refuses them', async () => {
    v = await vendors(['openai', 'cohere'])
    const client = await openai()
    await client.embeddings.create({ model: 'openai/e', input: [[1, 2, 3], [4]] })
    expect(v.vendor.requests[0]?.json.input).toEqual([[1, 2, 3], [4]])
    await expect(client.embeddings.create({ model: 'cohere/e', input: [1, 2] })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    })
    expect(v.vendor.requests).toHaveLength(1)
  })
})

it('the AI SDK embeds one text and many', async () => {
  v = await vendors(['openai'])
  const { port } = await v.t.listen()
  const model = createOpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }).embedding('openai/e')
  expect((await embed({ model, value: 'hello' })).embedding).toEqual(scriptedVector('hello'))
  expect((await embedMany({ model, values: ['a', 'bb'] })).embeddings).toEqual([scriptedVector('a'), scriptedVector('bb')])
})

describe('the upstream request', () => {
  const sent = (at = 0) => {
    const { path = '', json = {}, headers = {} } = v.vendor.requests[at] ?? {}
    return { path, json, headers }
  }

  it('is the caller’s own body at a vendor with the same format, and its answer comes back untouched', async () => {
    v = await vendors(['openai'])
    const body = '{"model":"openai/e","input":"hi","seed":9223372036854775807}'
    const answer = await v.t.post('/v1/embeddings', body)
    expect(v.vendor.requests[0]?.text).toBe(body.replace('openai/e', 'e'))
    expect(sent().headers.authorization).toBe('Bearer sk-openai')
    expect(await answer.json()).toMatchObject({ model: 'e', usage: { total_tokens: 2 } })
  })

  it.each([
    ['cohere', '/v2/embed', { texts: ['hi'], input_type: 'search_query', embedding_types: ['float'], output_dimension: 4 }],
    [
      'google',
      '/v1beta/models/e:embedContent',
      { content: { parts: [{ text: 'hi' }] }, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 },
    ],
    ['voyage', '/v1/embeddings', { input: 'hi', input_type: 'query', output_dimension: 4 }],
    ['jina', '/v1/embeddings', { input: 'hi', task: 'retrieval.query', dimensions: 4 }],
    ['mistral', '/v1/embeddings', { input: 'hi', output_dimension: 4 }],
    ['nvidia', '/v1/embeddings', { input: 'hi', input_type: 'query', dimensions: 4 }],
  ])('%s', async (provider, path, body) => {
    v = await vendors([provider])
    expect((await ask({ model: `${provider}/e`, input: 'hi', dimensions: 4, input_type: 'query' })).status).toBe(200)
    expect(sent().path).toBe(path)
    expect(sent().json).toMatchObject(body)
  })

  it('splits more than 96 texts for Cohere, and sums what it bills', async () => {
    v = await vendors(['cohere'])
    const input = Array.from({ length: 200 }, (_, at) => 'x'.repeat(1 + (at % 9)))
    const { json } = await ask({ model: 'cohere/e', input })
    expect(v.vendor.requests.map(({ json: { texts } }) => (texts as string[]).length)).toEqual([96, 96, 8])
    expect((json.data as { embedding: number[] }[]).map(({ embedding }) => embedding)).toEqual(
      input.map((text) => scriptedVector(text)),
    )
    expect(json.usage).toEqual({ prompt_tokens: input.join('').length, total_tokens: input.join('').length })
    expect(v.t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: input.join('').length, estimated: false })
  })
})

describe('what is refused', () => {
  it.each([
    ['openai', { data: [{ index: 0, embedding: [1] }] }, '1 of 2 entries in `data`'],
    ['cohere', { embeddings: { float: [[1], [2], [3]] } }, '3 of 2 entries in `embeddings.float`'],
    ['google', { embeddings: [] }, '0 of 2 entries in `embeddings`'],
    ['openai', { model: 'e', data: {} }, 'without `data`'],
  ])('an answer of %s with another number of vectors, by its numbers', async (provider, answer, message) => {
    v = await vendors([provider], { upstream: [{ kind: 'raw', status: 200, body: JSON.stringify(answer) }] })
    const { status, json } = await ask({ model: `${provider}/e`, input: ['a', 'b'], encoding_format: 'base64' })
    expect([status, (json.error as { message: string }).message]).toEqual([502, expect.stringContaining(message)])
  })

  it('a body over GATEWAY_MAX_BODY_BYTES; one that is over the limit of other routes is served', async () => {
    v = await vendors(['openai'], { env: { MAX_BODY_BYTES: String(3 * 2 ** 20) } })
    const input = 'x'.repeat(2.5 * 2 ** 20)
    expect((await ask({ model: 'openai/e', input })).status).toBe(200)
    expect(await ask({ model: 'openai/e', input: input + input })).toMatchObject({
      status: 413,
      json: { error: { code: 'request_too_large' } },
    })
    expect((await v.t.post('/v1/rerank', { model: 'openai/e', query: input, documents: ['a'] })).status).toBe(413)
    expect(v.vendor.requests).toHaveLength(1)
  })

  it.each([
    [{ input: 'x' }, 'model'],
    [{ model: 'openai/e' }, 'input'],
    [{ model: 'openai/e', input: '' }, 'input'],
    [{ model: 'openai/e', input: [] }, 'input'],
    [{ model: 'openai/e', input: ['a', ''] }, 'input'],
    [{ model: 'openai/e', input: ['a', 1] }, 'input'],
    [{ model: 'openai/e', input: [1.5] }, 'input'],
    [{ model: 'openai/e', input: [[]] }, 'input'],
    [{ model: 'openai/e', input: 'x', encoding_format: 'int8' }, 'encoding_format'],
    [{ model: 'openai/e', input: 'x', dimensions: 0 }, 'dimensions'],
    [{ model: 'openai/../e', input: 'x' }, 'model'],
    [{ model: 'anthropic/claude', input: 'x' }, 'model'],
  ])('%j', async (body, param) => {
    v = await vendors(['openai', 'anthropic'])
    const { status, json } = await ask(body)
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: { param } })
    expect(v.vendor.requests).toHaveLength(0)
  })
})

it('base64 and floats are the same vector, for any float32', async () => {
  v = await vendors([])
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true }), { maxLength: 64 }), (values) => {
      expect(fromBase64(toBase64(values))).toEqual(values)
      expect(toBase64(values)).toBe(Buffer.from(Float32Array.from(values).buffer).toString('base64'))
    }),
  )
})

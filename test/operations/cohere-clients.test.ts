// Clients of Cohere at the gateway's routes: the AI SDK's provider, and the vendor's own SDK.
import { createCohere } from '@ai-sdk/cohere'
import { rerank } from 'ai'
import { CohereClient } from 'cohere-ai'
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const DOCUMENTS = ['short', 'the longest of them', 'a middle one']
const BEST = [
  [1, 0.19],
  [2, 0.12],
]

async function address(): Promise<string> {
  return `http://127.0.0.1:${(await v.t.listen()).port}`
}

describe.each(['cohere', 'jina', 'voyage', 'together'])('rerank at %s', (provider) => {
  it('the AI SDK', async () => {
    v = await vendors([provider])
    const model = createCohere({ apiKey: 'none', baseURL: `${await address()}/v1` }).reranking(`${provider}/r`)
    const { ranking, rerankedDocuments } = await rerank({ model, query: 'which', documents: DOCUMENTS, topN: 2 })
    expect(ranking.map(({ originalIndex, score }) => [originalIndex, score])).toEqual(BEST)
    expect(rerankedDocuments).toEqual([DOCUMENTS[1], DOCUMENTS[2]])
  })

  it('the SDK of Cohere, at its first version', async () => {
    v = await vendors([provider])
    const client = new CohereClient({ token: 'none', environment: await address(), maxRetries: 0 })
    const { results } = await client.rerank({
      model: `${provider}/r`,
      query: 'which',
      documents: DOCUMENTS,
      topN: 2,
      returnDocuments: true,
    })
    expect(results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual(BEST)
    expect(results[0]?.document).toEqual({ text: DOCUMENTS[1] })
  })
})

it('objects as documents reach the vendor as texts', async () => {
  v = await vendors(['cohere'])
  const model = createCohere({ apiKey: 'none', baseURL: `${await address()}/v1` }).reranking('cohere/r')
  const { ranking } = await rerank({ model, query: 'which', documents: [{ a: 1 }, { a: 'a longer one' }] })
  expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 0])
})

it('a refusal is an error of the SDK, with its status and text', async () => {
  v = await vendors(['cohere'], { upstream: [fail(400, { message: 'too many documents' })] })
  const client = new CohereClient({ token: 'none', environment: await address(), maxRetries: 0 })
  const asked = client.rerank({ model: 'cohere/r', query: 'which', documents: DOCUMENTS })
  await expect(asked).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining('too many documents') })
})

it('the routes of the second version are unknown', async () => {
  v = await vendors(['cohere'])
  const client = new CohereClient({ token: 'none', environment: await address(), maxRetries: 0 })
  const asked = client.v2.rerank({ model: 'cohere/r', query: 'which', documents: DOCUMENTS })
  await expect(asked).rejects.toMatchObject({ statusCode: 404 })
  await expect(client.embed({ model: 'cohere/e', texts: ['a'] })).rejects.toMatchObject({ statusCode: 404 })
  expect(v.vendor.requests).toHaveLength(0)
})

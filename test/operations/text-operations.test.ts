// Rerank, moderations, OCR and search: the official SDKs where they exist, and what each vendor is sent.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const ask = async (path: string, body: object) => {
  const response = await v.t.post(path, body)
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}
const sent = (at = 0) => v.vendor.requests[at]
const unitsOf = (at = 0) => v.t.settled[at]?.outcome.usage.units

describe('rerank', () => {
  const BODY = { query: 'q', documents: ['a', 'bbb', { text: 'cc', id: 7 }], top_n: 2, return_documents: true }

  it.each([
    ['cohere', '/v2/rerank', { top_n: 2 }],
    ['jina', '/v1/rerank', { top_n: 2 }],
    ['voyage', '/v1/rerank', { top_k: 2 }],
    ['together', '/v1/rerank', { top_n: 2 }],
  ])('%s: the best first, with the caller’s positions and documents', async (provider, path, named) => {
    v = await vendors([provider])
    const { status, json } = await ask('/v1/rerank', { model: `${provider}/r`, ...BODY })
    expect(status).toBe(200)
    expect(json.results).toEqual([
      { index: 1, relevance_score: 0.03, document: { text: 'bbb' } },
      { index: 2, relevance_score: 0.02, document: { text: 'cc', id: 7 } },
    ])
    expect(sent()).toMatchObject({ path, json: { model: 'r', query: 'q', documents: ['a', 'bbb', 'cc'], ...named } })
    expect(unitsOf()).toEqual({ queries: 1 })
  })

  it.each([
    [{ documents: ['a'] }, 'query'],
    [{ query: 'q' }, 'documents'],
    [{ query: 'q', documents: [] }, 'documents'],
    [{ query: 'q', documents: [1] }, 'documents.0'],
    [{ query: 'q', documents: ['a'], top_n: 0 }, 'top_n'],
  ])('refuses %j', async (body, param) => {
    v = await vendors(['cohere'])
    expect((await ask('/v1/rerank', { model: 'cohere/r', ...body })).json.error).toMatchObject({ param })
  })
})

describe('moderations', () => {
  it('the SDK of OpenAI: a text, texts and parts', async () => {
    v = await vendors(['openai'])
    const { port } = await v.t.listen()
    const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
    const one = await client.moderations.create({ input: 'attack' })
    expect(one.results[0]).toMatchObject({ flagged: true, categories: { violence: true } })
    expect(sent()?.json.model).toBe('omni-moderation-latest')
    const many = await client.moderations.create({ model: 'openai/m', input: ['peace', 'attack'] })
    expect(many.results.map(({ flagged }) => flagged)).toEqual([false, true])
    const parts = [
      { type: 'text' as const, text: 'attack' },
      { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } },
    ]
    expect((await client.moderations.create({ model: 'openai/m', input: parts })).results).toHaveLength(1)
  })

  it('Mistral sends no verdict: any category flags', async () => {
    v = await vendors(['mistral'])
    const { json } = await ask('/v1/moderations', { model: 'mistral/mistral-moderation-latest', input: ['attack', 'peace'] })
    expect((json.results as { flagged: boolean }[]).map(({ flagged }) => flagged)).toEqual([true, false])
  })

  it('a missing verdict is 502: an input must not look harmless', async () => {
    const raw = JSON.stringify({ id: 'm', model: 'm', results: [] })
    v = await vendors(['openai'], { upstream: [{ kind: 'raw', status: 200, body: raw }] })
    expect((await ask('/v1/moderations', { model: 'openai/m', input: 'x' })).status).toBe(502)
  })
})

describe('OCR', () => {
  const document = { type: 'document_url', document_url: 'https://example.com/a.pdf' }

  it('pages come back as they are, and are counted', async () => {
    v = await vendors(['mistral'])
    const { json } = await ask('/v1/ocr', { document, include_image_base64: false })
    expect(json).toMatchObject({
      pages: [{ index: 0, markdown: expect.stringContaining('# Page 1'), dimensions: { dpi: 200 } }, { index: 1 }],
      model: 'mistral-ocr-latest',
      usage_info: { pages_processed: 2, doc_size_bytes: 1234 },
    })
    expect(sent()?.json).toEqual({ document, include_image_base64: false, model: 'mistral-ocr-latest' })
    expect(unitsOf()).toEqual({ pages: 2 })
  })

  it.each([
    [{}],
    [{ document: {} }],
    [{ document: { type: 'document_url' } }],
    [{ document: 'https://example.com' }],
  ])('refuses %j', async (body) => {
    v = await vendors(['mistral'])
    expect((await ask('/v1/ocr', body)).json.error).toMatchObject({ param: 'document' })
  })
})

describe('search', () => {
  it.each([
    ['tavily', 'POST', '/v1/search', 'Content 1'],
    ['exa', 'POST', '/v1/search', 'Highlight 1'],
    ['brave', 'GET', '/res/v1/web/search?q=hi+site%3Aexample.com+-site%3Abad.com&count=2&freshness=pw', 'Description 1'],
    ['serper', 'POST', '/v1/search', 'Snippet 1'],
    ['perplexity', 'POST', '/v1/search', 'Snippet 1'],
    ['google-pse', 'GET', expect.stringContaining('/customsearch/v1?cx=engine&q=hi'), 'Snippet 1'],
    ['linkup', 'POST', '/v1/search', 'Content 1'],
    ['searxng', 'GET', expect.stringContaining('/search?q=hi'), 'Content 1'],
    ['firecrawl', 'POST', '/v1/search', 'Description 1'],
  ])('%s', async (provider, method, path, snippet) => {
    v = await vendors([provider])
    const { status, json } = await ask('/v1/search', {
      query: 'hi',
      model: provider === 'google-pse' ? 'google-pse/engine' : `${provider}/search`,
      max_results: 2,
      time_range: 'week',
      include_domains: ['example.com'],
      exclude_domains: ['bad.com'],
    })
    expect(status, JSON.stringify(json)).toBe(200)
    expect(json).toMatchObject({ object: 'search.results', provider, query: 'hi', search_type: 'web', usage: { queries: 1 } })
    expect((json.results as object[])[0]).toMatchObject({
      position: 1,
      title: 'Result 1',
      url: 'https://www.example.com/1',
      display_url: 'example.com/1',
      snippet,
    })
    expect(sent()).toMatchObject({ method, path })
    expect(unitsOf()).toEqual({ queries: 1 })
  })

  it('without model and provider the first connected provider answers, and the next one after a failure', async () => {
    v = await vendors(['tavily', 'brave'], {
      upstream: [
        { kind: 'fail', status: 500, message: 'down' },
        { kind: 'reply', reply: {} },
      ],
    })
    const { status, json } = await ask('/v1/search', { query: 'hi' })
    expect({ status, provider: json.provider, calls: v.vendor.requests.length }).toEqual({
      status: 200,
      provider: 'brave',
      calls: 2,
    })
  })

  it('a 400 of the vendor is returned at once', async () => {
    v = await vendors(['tavily', 'brave'], { upstream: [{ kind: 'fail', status: 400, message: 'bad query' }] })
    expect((await ask('/v1/search', { query: 'hi' })).status).toBe(400)
    expect(v.vendor.requests).toHaveLength(1)
  })

  it('says what to connect when there is no search provider', async () => {
    v = await vendors(['openai'])
    const { status, json } = await ask('/v1/search', { query: 'hi' })
    expect({ status, error: json.error }).toMatchObject({
      status: 400,
      error: { param: 'provider', message: expect.stringContaining('`tavily`') },
    })
  })

  it.each([
    [{}, 'query'],
    [{ query: ' ' }, 'query'],
    [{ query: 'x', max_results: 51 }, 'max_results'],
    [{ query: 'x', model: 'exa/search', provider: 'tavily' }, 'provider'],
    [{ query: 'x', search_type: 'maps' }, 'search_type'],
    [{ query: 'x', time_range: 'hour' }, 'time_range'],
    [{ query: 'x', include_domains: ['a b'] }, 'include_domains'],
    [{ query: 'x', exclude_domains: 'a.com' }, 'exclude_domains'],
  ])('refuses %j', async (body, param) => {
    v = await vendors(['tavily'])
    expect((await ask('/v1/search', { provider: 'tavily', ...body })).json.error).toMatchObject({ param })
    expect(v.vendor.requests).toHaveLength(0)
  })
})

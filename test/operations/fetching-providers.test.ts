// POST /v1/web/fetch by a connected provider: what the vendor gets and the caller sees, and which addresses never leave the gateway.
import { afterEach, describe, expect, it } from 'vitest'
import { GONE, scriptedPage } from '../../adapters/testing/operations/pages.ts'
import { pageReader } from '../../adapters/web-fetch/index.ts'
import { type Vendors, vendors } from './support.ts'

const PROVIDERS = ['firecrawl', 'jina', 'tavily', 'exa'] as const
const URL = 'https://example.com/a'

let v: Vendors
afterEach(() => v.close())

let resolved: string[] = []
async function start(providers: readonly string[] = PROVIDERS, options: Parameters<typeof vendors>[1] = {}): Promise<void> {
  resolved = ['93.184.216.34']
  const readPage = pageReader({ resolve: async () => resolved.map((address) => ({ address, family: 4 })) })
  v = await vendors(providers, { ports: { readPage }, ...options })
}

async function fetched(body: object): Promise<{ status: number; json: Record<string, unknown>; warnings: string | null }> {
  const response = await v.t.post('/v1/web/fetch', body)
  const warnings = response.headers.get('x-gateway-warnings')
  return { status: response.status, json: (await response.json()) as Record<string, unknown>, warnings }
}

describe('an answer', () => {
  it.each(PROVIDERS)('of %s has the shape of a page that the gateway read', async (provider) => {
    await start()
    const { status, json } = await fetched({ url: URL, provider, include_links: true, max_characters: 8, timeout_ms: 2500 })
    expect({ status, json }).toMatchObject({
      status: 200,
      json: {
        object: 'web.fetch',
        url: URL,
        final_url: URL,
        status: 200,
        format: 'markdown',
        content: scriptedPage(URL).slice(0, 8),
        length: 8,
        truncated: true,
        provider,
        usage: { pages: 1 },
      },
    })
    expect(json.title).toBe(provider === 'tavily' ? null : 'A page')
    const [request] = v.vendor.requests
    expect(request?.headers[provider === 'exa' ? 'x-api-key' : 'authorization']).toContain(`sk-${provider}`)
    expect(JSON.stringify(request?.json)).toContain(URL)
    await v.t.untilSettled(1)
    const [{ outcome } = {}] = v.t.settled
    expect(outcome).toMatchObject({ status: 200, steps: [{ provider, model: 'fetch', usage: { units: { pages: 1 } } }] })
  })

  it('lists the links of vendors that have them, and warns for one that has none', async () => {
    await start()
    const links = { firecrawl: '', exa: '', jina: 'Next' }
    for (const [provider, text] of Object.entries(links)) {
      const { json } = await fetched({ url: URL, provider, include_links: true })
      expect(json.links, provider).toEqual([{ text, url: 'https://example.com/next' }])
      expect((await fetched({ url: URL, provider })).json).not.toHaveProperty('links')
    }
    const { json, warnings } = await fetched({ url: URL, provider: 'tavily', include_links: true })
    expect(json).not.toHaveProperty('links')
    expect(warnings).toBe('dropped_include_links')
  })

  it('carries the time, and leaves other members out with a warning: they could name further addresses', async () => {
    await start()
    const sent = { url: URL, timeout_ms: 2500, urls: ['http://10.0.0.1/'], actions: [{ type: 'goto', url: 'http://10.0.0.1/' }] }
    for (const provider of PROVIDERS) expect((await fetched({ ...sent, provider })).warnings).toBe('dropped_urls,dropped_actions')
    const [firecrawl, jina, tavily, exa] = v.vendor.requests
    expect(firecrawl?.json.timeout).toBe(2500)
    expect(jina?.headers['x-timeout']).toBe('3')
    expect(tavily?.json.timeout).toBe(3)
    expect(exa?.json.livecrawlTimeout).toBe(2500)
    expect(JSON.stringify(v.vendor.requests.map(({ json }) => json))).not.toContain('10.0.0.1')
  })

  it('says in which formats a vendor reads', async () => {
    await start()
    for (const [provider, format] of [
      ['firecrawl', 'text'],
      ['tavily', 'html'],
      ['exa', 'json'],
      ['jina', 'json'],
    ]) {
      const { status, json } = await fetched({ url: URL, provider, format })
      expect({ status, ...json }).toMatchObject({
        status: 400,
        error: { param: 'format', message: expect.stringContaining('markdown') },
      })
    }
    expect(v.vendor.requests).toHaveLength(0)
    expect((await fetched({ url: URL, provider: 'jina', format: 'html' })).json.content).toBe(scriptedPage(URL))
  })

  it('of a page that does not exist: its status, or 502 without a rest for the account', async () => {
    await start()
    const url = `https://example.com/${GONE}`
    for (const provider of ['firecrawl', 'jina', 'exa'])
      expect(await fetched({ url, provider }), provider).toMatchObject({ status: 200, json: { status: 404 } })
    for (let time = 0; time < 6; time++)
      expect(await fetched({ url, provider: 'tavily' })).toMatchObject({
        status: 502,
        json: { error: { message: expect.stringContaining('Not found') } },
      })
    expect((await fetched({ url: URL, provider: 'tavily' })).status).toBe(200)
  })
})

it('a page is billed at its price', async () => {
  await start(['tavily'], { env: { PRICING_SYNC_ENABLED: 'false' } })
  const body = JSON.stringify({ data: [{ model: 'tavily/fetch', per_page_usd: 0.008011 }] })
  const init = { method: 'PUT', body, headers: { 'content-type': 'application/json' } }
  expect((await v.t.fetch('/api/pricing/overrides', init)).status).toBe(200)
  expect((await fetched({ url: URL, provider: 'tavily' })).status).toBe(200)
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome.costNano).toBe(8_011_000)
})

describe('a provider', () => {
  it('that is unknown, serves no pages or is not connected is refused by name', async () => {
    await start(['tavily', 'openai'])
    for (const provider of ['nobody', 'openai', 'exa', 'fetch/tavily', ''])
      expect(await fetched({ url: URL, provider }), provider).toMatchObject({
        status: 400,
        json: { error: { param: 'provider' } },
      })
    expect(v.vendor.requests).toHaveLength(0)
  })
})

describe('an address', () => {
  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://0x7f000001/',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost/',
    'http://printer.local/',
    'file:///etc/passwd',
    'http://user:secret@example.com/',
    'http://example.com:6379/',
    'not a url',
  ])('%s never reaches a vendor, also where the gateway itself may read it', async (url) => {
    await start(PROVIDERS, { env: { WEB_FETCH_ALLOW_PRIVATE: 'true' } })
    for (const provider of PROVIDERS)
      expect(await fetched({ url, provider })).toMatchObject({
        status: 400,
        json: { error: { param: 'url', code: 'url_not_allowed' } },
      })
    expect(v.vendor.requests).toHaveLength(0)
  })

  it('whose name leads inward here never reaches a vendor', async () => {
    await start()
    resolved = ['93.184.216.34', '192.168.1.5']
    expect(await fetched({ url: 'https://wiki.example.com/', provider: 'jina' })).toMatchObject({
      status: 400,
      json: { error: { param: 'url', code: 'url_not_allowed' } },
    })
    resolved = []
    expect((await fetched({ url: 'https://only-there.example.com/', provider: 'jina' })).status).toBe(200)
    expect(v.vendor.requests).toHaveLength(1)
  })
})

// POST /v1/web/fetch against a site on this machine: public names are dialled here, and every inward address is refused.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'
import { pageReader } from '../../adapters/web-fetch/index.ts'

let site: Server
let port: number
let hits = 0
let answer: RequestListener
let resolved: string[] = ['93.184.216.34']
let t: TestGateway

beforeAll(async () => {
  site = createServer((req, res) => {
    hits++
    answer(req, res)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  port = (site.address() as AddressInfo).port
})
afterAll(() => site.close())
afterEach(async () => {
  await t.close()
  resolved = ['93.184.216.34']
  hits = 0
})

async function start(env: Record<string, string> = {}): Promise<void> {
  const readPage = pageReader({
    resolve: async () => resolved.map((address) => ({ address, family: 4 })),
    dial: () => ({ host: '127.0.0.1', port }),
  })
  t = await createTestGateway({ ports: { readPage }, env })
}

const html =
  (body: string, head = ''): RequestListener =>
  (_req, res) => {
    res.setHeader('content-type', 'text/html; charset=utf-8')
    res.end(`<html><head><title>A  page</title>${head}</head><body>${body}</body></html>`)
  }

async function fetched(body: object): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await t.post('/v1/web/fetch', body)
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

const PAGE = `<nav><a href="/menu">Menu</a></nav><h1>Hello</h1><p>One <b>bold</b> <a href="/next?a=1">word</a>.</p>
<ul><li>first</li><li>second</li></ul><pre><code>let a = 1</code></pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table><script>alert(1)</script>`

describe('what comes back', () => {
  it('Markdown with absolute links, without scripts and menus', async () => {
    await start()
    answer = html(PAGE)
    const { status, json } = await fetched({ url: 'http://example.com/dir/', include_links: true })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      object: 'web.fetch',
      final_url: 'http://example.com/dir/',
      status: 200,
      title: 'A page',
      format: 'markdown',
      truncated: false,
      provider: 'direct',
      links: [{ text: 'word', url: 'http://example.com/next?a=1' }],
      usage: { fetch_cost_usd: 0 },
    })
    const content = json.content as string
    expect(content).toContain('# Hello')
    expect(content).toContain('One **bold** [word](http://example.com/next?a=1).')
    expect(content).toContain('```\nlet a = 1\n```')
    expect(content).toContain('| a | b |\n| --- | --- |\n| 1 | 2\\|3 |')
    expect(content).not.toMatch(/alert|Menu/)
    expect(json.length).toBe(content.length)
  })

  it('text, HTML, JSON and the first characters', async () => {
    await start()
    answer = html('<h2>Hi</h2><p>a <i>b</i></p>')
    expect((await fetched({ url: 'http://example.com/', format: 'text' })).json.content).toMatch(/^Hi\n\na b$/)
    expect((await fetched({ url: 'http://example.com/', format: 'html' })).json.content).toContain('<h2>Hi</h2>')
    expect((await fetched({ url: 'http://example.com/', max_characters: 3 })).json).toMatchObject({ length: 3, truncated: true })
    answer = html('<p>😀😀😀</p>')
    for (const [most, content] of [
      [4, '😀😀'],
      [5, '😀😀'],
      [6, '😀😀😀'],
    ] as const)
      expect((await fetched({ url: 'http://example.com/', max_characters: most })).json).toMatchObject({
        content,
        length: content.length,
        truncated: most < 6,
      })
    answer = (_req, res) => res.setHeader('content-type', 'application/json').end('{ "a": [1, 2] }')
    expect((await fetched({ url: 'http://example.com/', format: 'json' })).json).toMatchObject({
      content: '{"a":[1,2]}',
      title: null,
    })
  })

  it('the status of the page is in the answer', async () => {
    await start()
    answer = (_req, res) => res.writeHead(404, { 'content-type': 'text/plain' }).end('gone')
    expect(await fetched({ url: 'http://example.com/' })).toMatchObject({ status: 200, json: { status: 404, content: 'gone' } })
  })

  it('an old page in its own encoding', async () => {
    await start()
    answer = (_req, res) =>
      res.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0x47, 0x72, 0xf6, 0xdf, 0x65]))
    expect((await fetched({ url: 'http://example.com/' })).json.content).toBe('Größe')
  })

  it('a gzip bomb ends at 5 MiB', async () => {
    await start()
    answer = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(20 * 1024 * 1024, 'a ')))
    const { status, json } = await fetched({ url: 'http://example.com/', max_characters: 500_000 })
    if (status === 200) expect(json).toMatchObject({ truncated: true, length: 500_000 })
    else expect(status).toBe(502)
  })

  it('redirects: followed, to a limit', async () => {
    await start()
    answer = (req, res) => {
      if (req.url === '/end') return html('<p>end</p>')(req, res)
      res.writeHead(302, { location: '/end' }).end()
    }
    expect((await fetched({ url: 'http://example.com/' })).json).toMatchObject({
      final_url: 'http://example.com/end',
      content: 'end',
    })
    answer = (_req, res) => res.writeHead(302, { location: '/again' }).end()
    expect((await fetched({ url: 'http://example.com/' })).status).toBe(502)
  })
})

describe('what is refused', () => {
  it.each([
    ['loopback', 'http://127.0.0.1/'],
    ['loopback, short', 'http://127.1/'],
    ['loopback, hex', 'http://0x7f000001/'],
    ['loopback, decimal', 'http://2130706433/'],
    ['loopback, octal', 'http://0177.0.0.1/'],
    ['loopback, IPv6', 'http://[::1]/'],
    ['loopback, mapped', 'http://[::ffff:127.0.0.1]/'],
    ['unspecified', 'http://0.0.0.0/'],
    ['private', 'http://10.0.0.1/'],
    ['carrier', 'http://100.64.0.1/'],
    ['metadata', 'http://169.254.169.254/latest/'],
    ['unique local', 'http://[fd00::1]/'],
    ['NAT64', 'http://[64:ff9b::7f00:1]/'],
    ['a name of this machine', 'http://localhost/'],
    ['a local name', 'http://printer.local/'],
    ['the metadata name', 'http://metadata.google.internal/'],
    ['another scheme', 'file:///etc/passwd'],
    ['another service', 'http://example.com:6379/'],
    ['a password', 'http://user:pw@example.com/'],
  ])('%s', async (_what, url) => {
    await start()
    answer = html('secret')
    const { status, json } = await fetched({ url })
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: { param: 'url', code: 'url_not_allowed' } })
    expect(hits).toBe(0)
  })

  it('a name that leads inward, and one with an inward address among others', async () => {
    await start()
    answer = html('secret')
    for (const addresses of [['10.0.0.1'], ['93.184.216.34', '127.0.0.1']]) {
      resolved = addresses
      expect((await fetched({ url: 'http://rebind.example.com/' })).status).toBe(400)
    }
    expect(hits).toBe(0)
  })

  it('a redirect inward', async () => {
    await start()
    answer = (_req, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    const { status, json } = await fetched({ url: 'http://example.com/' })
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: { code: 'url_not_allowed' } })
    expect(hits).toBe(1)
  })

  it('media, wrong members, and a page that does not come in time', async () => {
    await start()
    answer = (_req, res) => res.setHeader('content-type', 'image/png').end('x')
    expect((await fetched({ url: 'http://example.com/' })).status).toBe(415)
    for (const [body, param] of [
      [{}, 'url'],
      [{ url: 5 }, 'url'],
      [{ url: 'http://example.com/', format: 'pdf' }, 'format'],
      [{ url: 'http://example.com/', max_characters: 0 }, 'max_characters'],
    ] as const)
      expect((await fetched(body)).json.error).toMatchObject({ param })
    answer = () => {}
    expect((await fetched({ url: 'http://example.com/', timeout_ms: 50 })).status).toBe(504)
  })

  it('private addresses are read where the setting allows it, metadata never', async () => {
    await start({ WEB_FETCH_ALLOW_PRIVATE: 'true' })
    answer = html('<p>home</p>')
    expect((await fetched({ url: `http://127.0.0.1:${port}/` })).json).toMatchObject({ content: 'home' })
    expect((await fetched({ url: 'http://169.254.169.254/' })).status).toBe(400)
  })
})

// The outbound guard: no literal address, name or redirect leads to an internal address.
import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { mediaFetcher } from '../../../adapters/transport/fetch-media.ts'
import { checkOutboundUrl, isPublicAddress } from '../../../adapters/transport/outbound-url.ts'

const PUBLIC = '93.184.215.14'

/** Spellings of 127.0.0.1, a private network, or a cloud's metadata service that attacks have used. */
const INWARD = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['127.0.0.1.', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', '0', '0.0.0.0', '0x0', '00000000'],
  ...['10.0.0.1', '10.255.255.255', '0xa.0.0.1', '167772161', '172.16.0.1', '172.31.255.255', '192.168.0.1', '3232235521'],
  ...[
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '169.254.170.2',
    '100.64.0.1',
    '100.127.255.255',
    '100.100.100.200',
    '168.63.129.16',
  ],
  ...['192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fdff::1]', '[ff02::1]', '[64:ff9b::7f00:1]'],
  ...['[64:ff9b::169.254.169.254]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001:db8::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'printer.local', 'metadata.google.internal', 'metadata', 'redis'],
]

describe('literals', () => {
  it(`refuses all ${INWARD.length} of them, in both schemes and with a port`, () => {
    expect(INWARD.length).toBeGreaterThanOrEqual(60)
    for (const host of INWARD) {
      for (const url of [`http://${host}/x.png`, `https://${host}/x.png`, `http://${host}:8080/`, `http://user:pw@${host}/`]) {
        expect(() => checkOutboundUrl(url, 'url'), url).toThrow(/not lead to a public address|not a URL/)
      }
    }
  })

  it('takes public names and addresses', () => {
    for (const host of ['example.com', 'EXAMPLE.com.', 'a.b.example.org', PUBLIC, '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]'])
      expect(checkOutboundUrl(`https://${host}/x`, 'url').pathname).toBe('/x')
  })

  it('refuses every scheme but http and https, and what is no URL', () => {
    for (const url of [
      'ftp://example.com/',
      'file:///etc/passwd',
      'data:text/plain,x',
      'gopher://example.com/',
      'javascript:1',
      'x',
      '',
    ])
      expect(() => checkOutboundUrl(url, 'image'), url).toThrow(/`image`/)
  })

  it('judges addresses by range, not by spelling', () => {
    for (const address of ['8.8.8.8', '2606:4700::1111']) expect(isPublicAddress(address), address).toBe(true)
    for (const address of ['127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::808:808', '2002:808:808::', '2001::1', 'x', ''])
      expect(isPublicAddress(address), address).toBe(false)
  })
})

describe('mediaFetcher', () => {
  const signal = new AbortController().signal
  let answer: (url: string, res: ServerResponse) => void = (_url, res) =>
    void res.writeHead(200, { 'content-type': 'image/png; charset=binary' }).end('png')
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(`${req.headers.host}${req.url}`)
    answer(req.url as string, res)
  })
  let port = 0
  const dialled: string[] = []
  beforeAll(async () => {
    port = await listening(server)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const fetcher = (resolve: (host: string) => string[]) => {
    asked.length = dialled.length = 0
    return mediaFetcher({
      resolve: async (host) => resolve(host).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      dial: (address) => {
        dialled.push(address)
        return { host: '127.0.0.1', port }
      },
    })
  }

  it('fetches from the address it checked', async () => {
    const fetch = fetcher(() => [PUBLIC])
    expect(await fetch('http://pictures.example/a.png', signal)).toEqual({ mime: 'image/png', data: 'cG5n' })
    expect([asked, dialled]).toEqual([['pictures.example/a.png'], [PUBLIC]])
  })

  it('a name of which any address is inward is refused, and nothing is dialled', async () => {
    for (const addresses of [['127.0.0.1'], [PUBLIC, '10.0.0.1'], ['::1'], ['169.254.169.254', PUBLIC], ['64:ff9b::1'], []]) {
      const fetch = fetcher(() => addresses)
      await expect(fetch('http://inward.example/', signal), addresses.join()).rejects.toMatchObject({ status: 400 })
      expect([asked, dialled]).toEqual([[], []])
    }
  })

  it('a resolver that flips gets no second look: 1,000 dials, none inward', async () => {
    let flips = 0
    const fetch = fetcher(() => (flips++ % 2 === 0 ? [PUBLIC] : ['127.0.0.1']))
    answer = (_url, res) => void res.writeHead(200, { connection: 'close', 'content-type': 'image/png' }).end('png')
    let refused = 0
    for (let i = 0; i < 1000; i += 50)
      await Promise.all(
        Array.from({ length: 50 }, () => fetch('http://rebind.example/a.png', signal).catch(() => void refused++)),
      )
    expect(dialled.every((address) => address === PUBLIC)).toBe(true)
    expect(refused).toBeGreaterThan(300)
    expect(dialled.length + refused).toBe(1000)
  })

  const moved = (...to: string[]) => {
    answer = (_url, res) => {
      const next = to.shift()
      if (next === undefined) res.writeHead(200, { 'content-type': 'image/png' }).end('png')
      else res.writeHead(302, { location: next }).end()
    }
  }

  it('a URL to 127.0.0.1 or 169.254.169.254, or a redirect to one, is 400, and nothing is fetched there', async () => {
    const fetch = fetcher((host) => (host.startsWith('inward') ? ['127.0.0.1'] : [PUBLIC]))
    for (const url of ['http://127.0.0.1/', 'http://169.254.169.254/latest/meta-data/'])
      await expect(fetch(url, signal)).rejects.toMatchObject({ status: 400 })
    expect(asked).toEqual([])
    for (const to of [
      'http://127.0.0.1/',
      'http://169.254.169.254/',
      'http://inward.example/',
      'http://[::1]/',
      'file:///etc/passwd',
      '//localhost/',
    ]) {
      moved(to)
      asked.length = dialled.length = 0
      await expect(fetch('http://pictures.example/a', signal), to).rejects.toMatchObject({
        status: 400,
        param: expect.any(String),
      })
      expect(asked, to).toEqual(['pictures.example/a'])
      expect(dialled.every((address) => address === PUBLIC)).toBe(true)
    }
  })

  it('follows at most three redirects', async () => {
    const fetch = fetcher(() => [PUBLIC])
    moved('/b', 'http://other.example/c', '/d')
    expect((await fetch('http://pictures.example/a', signal)).data).toBe('cG5n')
    expect(asked).toEqual(['pictures.example/a', 'pictures.example/b', 'other.example/c', 'other.example/d'])
    moved('/1', '/2', '/3', '/4')
    await expect(fetch('http://pictures.example/a', signal)).rejects.toMatchObject({ status: 400 })
  })

  it('a redirect without a usable location, an error and an over-long body are 400; all failures sound alike', async () => {
    const fetch = fetcher(() => [PUBLIC])
    const messages = new Set<string>()
    for (const broken of [
      (_: string, res: ServerResponse) => void res.writeHead(302).end(),
      (_: string, res: ServerResponse) => void res.writeHead(302, { location: 'http://' }).end(),
      (_: string, res: ServerResponse) => void res.writeHead(404).end('secret banner'),
      (_: string, res: ServerResponse) => void res.socket?.resetAndDestroy(),
    ]) {
      answer = broken
      const error = await fetch('http://pictures.example/a', signal).catch(
        (thrown: unknown) => thrown as Error & { status: number },
      )
      expect(error).toMatchObject({ status: 400 })
      messages.add((error as Error).message)
    }
    expect([...messages].join()).not.toMatch(/secret|127\.0|ECONN/)
    answer = (_url, res) => {
      res.writeHead(200, { 'content-type': 'image/png' })
      for (let i = 0; i < 21; i++) res.write(Buffer.alloc(1 << 20))
      res.end()
    }
    await expect(fetch('http://pictures.example/a', signal)).rejects.toMatchObject({ status: 400 })
  })

  it('stops when the request does', async () => {
    const fetch = fetcher(() => [PUBLIC])
    answer = () => {}
    const controller = new AbortController()
    const running = fetch('http://pictures.example/a', controller.signal)
    await expect.poll(() => asked.length).toBe(1)
    controller.abort()
    await expect(running).rejects.toThrow()
  })
})

// gateway.http of plugins: only public addresses, also behind a redirect and a name; through the outbound proxy if one is set.
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { connectProxy } from '../../../adapters/testing/proxies.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { guardedFetch } from '../../../adapters/transport/guarded-fetch.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'

const PUBLIC = '93.184.215.14'
const site = createServer((req, res) => {
  const to = /^\/to\?(.*)$/.exec(req.url ?? '')?.[1]
  if (to !== undefined) return res.writeHead(302, { location: decodeURIComponent(to) }).end()
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ host: req.headers.host, path: req.url }))
})
let port: number
beforeAll(async () => {
  port = await listening(site)
})
afterAll(() => void site.close())

const names: Record<string, string> = {
  'good.example': PUBLIC,
  'rebound.example': '127.0.0.1',
  'metadata.example': '169.254.169.254',
}
const options = {
  resolve: async (host: string) => [{ address: names[host] ?? PUBLIC, family: 4 }],
  dial: () => ({ host: '127.0.0.1', port }),
}
const json = async (url: string): Promise<unknown> => (await guardedFetch(options)(url)).json()

describe('gateway.http', () => {
  it('reaches public addresses, also behind a redirect', async () => {
    expect(await json('http://good.example/a')).toEqual({ host: 'good.example', path: '/a' })
    expect(await json(`http://good.example/to?${encodeURIComponent('http://other.example/b')}`)).toMatchObject({ path: '/b' })
  })

  const INWARD = [
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://localhost/',
    'http://169.254.169.254/latest',
    'http://redis/',
  ]
  const REBOUND = ['http://rebound.example/', 'http://metadata.example/']
  it.each([...INWARD, ...REBOUND])('refuses %s, asked for or redirected to', async (url) => {
    for (const asked of [url, `http://good.example/to?${encodeURIComponent(url)}`])
      await expect(json(asked)).rejects.toThrow(/does not lead to a public address/)
  })

  it('goes through the outbound proxy, which resolves the name, and still refuses inward literals', async () => {
    const proxy = await connectProxy()
    const fetch = guardedFetch({ proxyUrl: `http://127.0.0.1:${proxy.port}` })
    await fetch('https://good.example/').catch(() => {})
    expect(proxy.tunnels).toEqual(['good.example:443'])
    await expect(fetch('https://127.0.0.1/')).rejects.toThrow(/does not lead to a public address/)
    expect(proxy.tunnels).toHaveLength(1)
    await proxy.close()
  })

  it('is what a plugin gets, and internalHttp reaches what the operator configured', async () => {
    let inside: PluginGateway | undefined
    const plugin = definePlugin({
      name: 'caller',
      setup(gateway) {
        inside = gateway
      },
    })
    const t = await createTestGateway({ plugins: [plugin()] })
    const url = `http://127.0.0.1:${port}/inside`
    await expect(inside?.http(url)).rejects.toThrow(/does not lead to a public address/)
    expect(await inside?.internalHttp(url)).toMatchObject({ path: '/inside' })
    await t.close()
  })
})

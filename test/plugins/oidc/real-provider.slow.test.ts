// A sign-in with the package `oidc-provider`, page by page as a browser does it.
import { afterEach, expect, it, vi } from 'vitest'
import { bearer, errorOf } from '../sign-in/support.ts'
import { type RealProvider, realProvider } from './real-provider.ts'
import { type OidcWorld, oidcWorld } from './support.ts'

const CALLBACK = 'https://llm.example.com/api/auth/oidc/callback'
let provider: RealProvider
let t: OidcWorld
afterEach(async () => {
  await t.close()
  await provider.close()
})

async function open(secret?: string): Promise<void> {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  vi.spyOn(console, 'info').mockImplementation(() => {})
  provider = await realProvider()
  provider.register(CALLBACK, secret)
  t = await oidcWorld({ url: provider.url } as Parameters<typeof oidcWorld>[0])
}

/** Follows the pages of the provider until it sends the browser back. */
async function throughPages(from: string, login: string, decision: 'consent' | 'abort' = 'consent'): Promise<URL> {
  const jar = new Map<string, string>()
  const visit = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    return response
  }
  let url = from
  let response = await visit(url)
  for (let step = 0; step < 20; step++) {
    const next = response.headers.get('location')
    if (next !== null) {
      url = new URL(next, url).href
      if (url.startsWith(CALLBACK)) return new URL(url)
      response = await visit(url)
      continue
    }
    const page = await response.text()
    const action = /action="([^"]+)"/.exec(page)?.[1]
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    if (action === undefined || prompt === undefined) throw new Error(`No form on ${url}: ${page.slice(0, 500)}`)
    const abort = /href="([^"]+\/abort)"/.exec(page)?.[1]
    response =
      decision === 'abort' && abort !== undefined
        ? await visit(new URL(abort, url).href)
        : await visit(new URL(action, url).href, { method: 'POST', body: new URLSearchParams({ prompt, login, password: 'x' }) })
  }
  throw new Error('The provider never sent the browser back.')
}

it('ends in a session of the person', async () => {
  await open()
  const { location, cookie } = await t.start('/keys')
  const back = await throughPages(location, 'grace')
  expect(back.searchParams.get('iss')).toBe(provider.url)
  const response = await t.callback(Object.fromEntries(back.searchParams), cookie)
  const [page, token] = (response.headers.get('location') ?? '').split('#token=')
  expect(page).toBe('https://llm.example.com/keys')
  expect(t.seen).toMatchObject([{ issuer: provider.url, subject: 'grace', email: 'grace@example.com' }])
  expect((await t.fetch('/api/auth/me', { headers: bearer(token as string) })).status).toBe(200)
  const again = await t.callback(Object.fromEntries(back.searchParams), cookie)
  expect(await errorOf(again)).toMatchObject({ status: 400, code: 'invalid_state' })
})

it('refuses an unverified address', async () => {
  await open()
  const { location, cookie } = await t.start()
  const back = await throughPages(location, 'unverified')
  expect(await errorOf(await t.callback(Object.fromEntries(back.searchParams), cookie))).toMatchObject({
    code: 'email_unverified',
  })
})

it('says that the person refused', async () => {
  await open()
  const { location, cookie } = await t.start()
  const back = await throughPages(location, 'grace', 'abort')
  expect(await errorOf(await t.callback(Object.fromEntries(back.searchParams), cookie))).toMatchObject({
    status: 403,
    code: 'access_denied',
  })
})

it('says that the client secret is wrong', async () => {
  await open('another secret')
  const { location, cookie } = await t.start()
  const back = await throughPages(location, 'grace')
  const said = await errorOf(await t.callback(Object.fromEntries(back.searchParams), cookie))
  expect(said).toMatchObject({
    status: 503,
    code: 'client_refused',
    message: expect.stringContaining('GATEWAY_IDP_CLIENT_SECRET'),
  })
})

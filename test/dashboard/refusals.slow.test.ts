// What the dashboard and its server refuse to others, and what a browser without JavaScript and a key without a permission get to see.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { ask, bearer, makeKey } from '../plugins/keys/support.ts'
import { BROWSER, openPage } from './browser.ts'

const OTHER = /a request to |ERR_|frame|Failed to|40[13]|Refused|violates|CORS/

describe.skipIf(BROWSER === null)('the dashboard refuses (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  let site: Server | null = null
  beforeEach(async () => {
    t = await createTestGateway()
    await t.post('/api/providers', { provider: 'echo' })
    origin = (await t.listen()).url
  })
  afterEach(async () => {
    await t.close()
    site?.close()
    site = null
  })

  /** A page of somebody else, under another origin. */
  async function elsewhere(html: string): Promise<string> {
    const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    site = server
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const keys = async (): Promise<number> => ((await (await t.fetch('/api/keys')).json()) as { data: [] }).data.length

  it('posts of another site, by fetch and by form, although it is open without a password', async () => {
    const foreign = await elsewhere(
      `<h1>Elsewhere</h1><form id="f" method="post" enctype="text/plain" action="${origin}/api/keys" target="t">
       <input name='{"label":"forged","x":"' value='"}'></form><iframe name="t"></iframe>`,
    )
    const { page, close } = await openPage(foreign, '/', { expected: OTHER })
    const statuses: number[] = []
    page.on('response', (response) => {
      if (response.url().startsWith(origin)) statuses.push(response.status())
    })
    const tried = await page.evaluate(async (target) => {
      const post = (init: object) =>
        fetch(`${target}/api/keys`, { method: 'POST', body: '{"label":"forged"}', ...init }).then(
          ({ status }) => status,
          () => 'blocked',
        )
      return [
        await post({ mode: 'no-cors' }),
        await post({ mode: 'no-cors', headers: { 'content-type': 'text/plain' } }),
        await post({ headers: { 'content-type': 'application/json' } }),
      ]
    }, origin)
    // `no-cors` answers with an opaque 0; the other does not get past its preflight.
    expect(tried).toEqual([0, 0, 'blocked'])
    const answered = page.waitForResponse(
      (response) => response.url() === `${origin}/api/keys` && response.frame() !== page.mainFrame(),
    )
    await page.evaluate('document.getElementById("f").submit()')
    expect((await answered).status()).toBe(403)
    expect(statuses.filter((status) => status < 400 && status !== 204)).toEqual([])
    expect(await keys()).toBe(0)
    await close()
  })

  it('to be shown in a frame', async () => {
    const foreign = await elsewhere(`<h1>Elsewhere</h1><iframe src="${origin}/keys"></iframe>`)
    const { page, close } = await openPage(foreign, '/', { expected: OTHER })
    await expect.poll(() => page.frames().length).toBe(2)
    const [, frame] = page.frames()
    await frame?.waitForLoadState()
    expect(await frame?.locator('h1', { hasText: 'Keys' }).count()).toBe(0)
    expect(frame?.url()).not.toBe(`${origin}/keys`)
    const { headers } = await fetch(`${origin}/keys`, { headers: { accept: 'text/html' } })
    expect([headers.get('x-frame-options'), headers.get('content-security-policy')]).toEqual([
      'DENY',
      expect.stringContaining("frame-ancestors 'none'"),
    ])
    await close()
  })

  it('to stand in for paths of the API and for files, also for a browser', async () => {
    const { page, close } = await openPage(origin, '/', { expected: /404/ })
    for (const path of ['/v1/nope', '/api/nope', '/requests.html', '/keys/app.js', '/.well-known/nope.json']) {
      const answer = await page.goto(origin + path)
      expect([path, answer?.status()]).toEqual([path, 404])
      expect(answer?.headers()['content-type'], path).toMatch(/^application\/json/)
      expect(await answer?.json()).toMatchObject({ error: { message: expect.any(String) } })
    }
    await close()
  })

  it('nothing without saying where else to go: without JavaScript it names the command line', async () => {
    const { page, close } = await openPage(origin, '/', { javaScript: false })
    // Where scripts run, its content is no element.
    expect(await page.locator('noscript code').boundingBox()).not.toBeNull()
    expect(await page.locator('body').innerText()).toMatch(/needs JavaScript.*hookgate help/s)
    await close()
  })

  it('a model that a key may not use, with the very answer of a client', async () => {
    const { id, key } = await makeKey(t, { label: 'narrow', allowed_models: ['other/*'] })
    const direct = await t.post('/v1/chat/completions', { ...ask('echo/echo-1'), stream: false }, bearer(key))
    expect(direct.status).toBe(403)
    const { error } = (await direct.json()) as { error: { message: string } }
    const { page, close } = await openPage(origin, '/playground?stream=false', { expected: /403/ })
    await page.getByLabel('As key').selectOption(String(id))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const shown = page.getByRole('region', { name: 'You get' })
    await shown.getByText('403').first().waitFor()
    await shown.getByText(error.message).first().waitFor()
    await close()
  })

  it('a draft that names keys and connections that are not there', async () => {
    const draft = { name: 'vm', strategy: 'failover', targets: ['echo/echo-1'] }
    for (const [more, param] of [
      [{ as_key: 999 }, 'as_key'],
      [{ assume: [{ connection_id: 999, state: 'down' }] }, 'assume.0.connection_id'],
    ] as const) {
      const answer = await t.post('/api/virtual-models/preview', { ...draft, ...more })
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ error: { param } })
    }
  })
})

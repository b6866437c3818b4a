// What the dashboard does when the gateway fails, is replaced, forgets the session or is slow.
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { pin } from '../../core/config/define.ts'
import { folder, type Serving, serving } from '../adapters/cli/hookgate.ts'
import { cheapHash, PASSWORD } from '../plugins/sign-in/support.ts'
import { BROWSER, openPage } from './browser.ts'
import { demo } from './demo.ts'
import { relay } from './relay.ts'

const LOST = /ERR_|Failed to (?:load|fetch)/

describe.skipIf(BROWSER === null)('the dashboard and a gateway that fails (needs chromium)', () => {
  const open: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })

  async function gateway(env: Record<string, string> = {}): Promise<{ t: TestGateway; origin: string; port: number }> {
    const t = await createTestGateway({ env })
    open.push(t)
    await t.post('/api/providers', { provider: 'echo' })
    const { url } = await t.listen()
    return { t, origin: url, port: Number(new URL(url).port) }
  }
  const rows = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row')
  const live = (page: Page) => page.getByText('● live').waitFor()
  const gone = (page: Page) => page.getByRole('alert').getByText('does not answer')
  const asked = { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] }

  it('killed while the page is on Live: a banner, the rows stay, and the next process fills the list', async () => {
    const cwd = folder({ 'gateway.config.ts': "import { defineConfig } from 'hookgate'\nexport default defineConfig({})\n" })
    const start = () => serving([], { cwd, env: { GATEWAY_DATA_DIR: cwd } })
    const ask = async ({ url }: Serving): Promise<string | null> => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
      })
      await answer.text()
      return answer.status === 200 ? answer.headers.get('x-gateway-request-id') : null
    }
    let server = await start()
    open.push({
      close: () => {
        server.child.kill('SIGTERM')
        return server.exited
      },
    })
    const made = await fetch(`${server.url}/api/providers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"provider":"echo"}',
    })
    expect(made.status).toBeLessThan(300)
    const way = await relay(server.port)
    open.push(way)
    const { page, close } = await openPage(way.origin, '/requests', { expected: LOST })
    await live(page)
    for (let i = 0; i < 3; i++) expect(await ask(server)).not.toBeNull()
    await expect.poll(() => rows(page).count()).toBe(4)
    // Its log writes some hundred milliseconds later.
    await expect.poll(async () => ((await (await fetch(`${server.url}/api/logs`)).json()) as { data: [] }).data.length).toBe(3)
    server.child.kill('SIGKILL')
    await server.exited
    way.cut()
    await page.evaluate('dispatchEvent(new Event("focus"))')
    await gone(page).waitFor()
    expect(await rows(page).count()).toBe(4)
    server = await start()
    const late = [await ask(server), await ask(server)]
    way.lead(server.port)
    await page.evaluate('dispatchEvent(new Event("focus"))')
    await expect.poll(() => rows(page).count()).toBe(6)
    await live(page)
    await expect.poll(() => gone(page).count()).toBe(0)
    await rows(page).nth(1).click()
    await page.getByRole('heading', { name: late[1] as string }).waitFor()
    await close()
  })

  it('away for a while: what the ring holds comes without a loss, and what it lost is a line', async () => {
    const { t, port } = await gateway({ LIVE_EVENT_BUFFER: '30' })
    const way = await relay(port)
    open.push(way)
    const { page, close } = await openPage(way.origin, '/requests', { expected: LOST })
    await live(page)
    let settled = 0
    const send = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await (await t.post('/v1/chat/completions', asked)).text()
      settled += count
      await t.untilCommitted(settled)
    }
    const total = () => page.getByRole('table', { name: 'Requests' }).getAttribute('aria-rowcount')
    await send(1)
    await expect.poll(total).toBe('2')
    way.cut()
    await page.getByText('stream lost').first().waitFor()
    await send(20)
    way.lead(port)
    await live(page)
    await expect.poll(total).toBe('22')
    expect(await page.getByText('not shown live').count()).toBe(0)
    way.cut()
    await page.getByText('stream lost').first().waitFor()
    await send(50)
    way.lead(port)
    await page.getByText(/\b20 not shown live/).waitFor()
    await close()
  })

  it('401 in the middle of an edit keeps the draft under the login', async () => {
    const { origin } = await gateway({ DASHBOARD_PASSWORD_HASH: await cheapHash() })
    const { page, close } = await openPage(origin, '/keys?add=1', { expected: /401/ })
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await signIn()
    await page.getByLabel('Label').fill('half-written')
    const token = await page.evaluate('sessionStorage.getItem("session")')
    const bearer = `Bearer ${String(token).replaceAll('"', '')}`
    const ended = await fetch(`${origin}/api/auth/logout`, { method: 'POST', headers: { authorization: bearer } })
    expect(ended.status).toBeLessThan(300)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/keys')
    await signIn()
    await expect.poll(() => page.getByRole('heading', { name: 'Sign in again' }).count()).toBe(0)
    expect(await page.getByLabel('Label').inputValue()).toBe('half-written')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('[data-secret]').waitFor()
    await close()
  })

  it('429 on the login says for how many seconds', async () => {
    const { origin } = await gateway({ DASHBOARD_PASSWORD_HASH: await cheapHash() })
    const { page, close } = await openPage(origin, '/', { expected: /40[13]|429/ })
    const password = page.getByLabel('Password')
    const alert = page.getByText(/\d+ s\b|\d+ seconds/)
    for (let i = 0; i < 30 && (await alert.count()) === 0; i++) {
      await password.fill(`wrong ${i}`)
      const answer = page.waitForResponse('**/api/login')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await (await answer).finished()
      await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).isEnabled()).toBe(true)
    }
    await alert.waitFor()
    await close()
  })

  it('409 of a setting that the file has pinned meanwhile is shown at the form, and the text stays', async () => {
    const { t, origin } = await gateway()
    const name = 'breaker.failure_threshold'
    const { page, close } = await openPage(origin, `/system?tab=settings&q=${name}&open=${name}`, { expected: /409/ })
    await page.getByLabel(name).fill('9')
    await t.gateway.reload({ settings: { [name]: pin(7) } as never })
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/gateway\.config\.ts|pinned/)
      .first()
      .waitFor()
    expect(await page.getByLabel(name).inputValue()).toBe('9')
    await page.reload()
    await page.getByText('pinned by gateway.config.ts').waitFor()
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0)
    await close()
  })

  it('an answer that takes 8 s: the data stays, other pages work, no error', async () => {
    const { t, origin } = await demo()
    open.push(t)
    const { page, close } = await openPage(origin, '/keys')
    await page.getByRole('row').nth(1).waitFor()
    await page.clock.install()
    let release = (): void => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    let held = 0
    await page.route(/\/api\/keys\?/, async (route) => {
      held++
      await slow
      await route.continue()
    })
    await page.clock.runFor(5000)
    await page.evaluate('dispatchEvent(new Event("focus"))')
    await expect.poll(() => held).toBeGreaterThan(0)
    await page.clock.runFor(8000)
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.getByText('does not answer').count()).toBe(0)
    await page.getByRole('link', { name: 'Connections', exact: true }).first().click()
    await page.getByText('echo').first().waitFor()
    release()
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click()
    await page.getByRole('row').nth(1).waitFor()
    await close()
  })

  it('a window with more requests than are counted says so, and leads to the exact sums', async () => {
    const { t, origin } = await demo()
    open.push(t)
    const { page, close } = await openPage(origin, '/keys')
    await page.route('**/api/usage?*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), truncated: true } })
    })
    for (const path of ['/', '/spend']) {
      await page.goto(origin + path)
      await page.getByText('more requests than this view counts').waitFor()
      await page.getByRole('link', { name: 'Reports' }).click()
      await page.getByRole('button', { name: /Download csv/i }).waitFor()
    }
    await close()
  })

  it('files of the page that are gone: one reload, and no loop', async () => {
    const { origin } = await gateway()
    const { page, close } = await openPage(origin, '/', { expected: /404|Failed to (?:load|fetch)/ })
    const had = new Set((await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")) as string[])
    let gone = true
    await page.route('**/*.js', (route) =>
      gone && !had.has(route.request().url()) ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    )
    let documents = 0
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents++
    })
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click()
    await page.getByText('could not be loaded').waitFor()
    expect(documents).toBe(1)
    expect(new URL(page.url()).pathname).toBe('/keys')
    gone = false
    await page.reload()
    await page.getByText('No client key yet').waitFor()
    await close()
  })
})

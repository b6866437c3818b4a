// How the dashboard keeps what it has read: after a failure, and after a change.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { BROWSER, openPage } from './browser.ts'
import { demo } from './demo.ts'

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'late' }] })

const focus = 'dispatchEvent(new Event("focus"))'

describe.skipIf(BROWSER === null)('data on the page (needs chromium)', () => {
  it('has its own age when a newer read fails, and the next read replaces it', async () => {
    const clock = fakeClock(Date.now())
    const { t, origin } = await demo({ clock })
    const { page, close } = await openPage(origin, '/keys', { expected: /503/ })
    await page.getByRole('row').nth(1).waitFor()
    const body = JSON.stringify({
      error: { message: 'The database does not answer.', type: 'api_error', param: null, code: null },
    })
    await page.route('**/api/keys*', (route) => route.fulfill({ status: 503, contentType: 'application/json', body }))
    // Ages are by the gateway's clock; the browser's own decides when a page asks again.
    await clock.advance('5m')
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 300_000 }')
    await page.evaluate(focus)
    await page.getByText(/The database does not answer\. This is of 5 m .*ago/).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.unroute('**/api/keys*')
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 300_000 }')
    await page.evaluate(focus)
    await expect.poll(() => page.getByText('The database does not answer.').count()).toBe(0)
    await close()
    await t.close()
  })

  it('is read again after a change, also when a read from before the change is under way', async () => {
    const { t, origin } = await demo()
    const { page, close } = await openPage(origin, '/keys')
    await page.getByRole('row').nth(1).waitFor()
    let release = (): void => {}
    const changed = new Promise<void>((resolve) => {
      release = resolve
    })
    let held = 0
    await page.route('**/api/keys*', async (route) => {
      // Others ask for a few keys only: the menu and the checklist.
      const { searchParams } = new URL(route.request().url())
      const isList = route.request().method() === 'GET' && Number(searchParams.get('limit') ?? 1000) > 2
      if (!isList || held++ > 0) return route.continue()
      const before = await route.fetch()
      await changed
      await route.fulfill({ response: before })
    })
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 300_000 }')
    await page.evaluate(focus)
    await expect.poll(() => held).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Label').fill('made-meanwhile')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('[data-secret]').waitFor()
    release()
    await page.getByRole('row', { name: /made-meanwhile/ }).waitFor({ timeout: 5000 })
    await close()
    await t.close()
  })

  it('keeps a live row that is younger than the page of the log', async () => {
    const { t, origin } = await demo()
    const { page, close } = await openPage(origin, '/requests')
    await expect.poll(() => page.locator('.live-mark.live').count()).toBe(1)
    await expect.poll(() => page.getByRole('row').count()).toBe(5)
    let release = (): void => {}
    const later = new Promise<void>((resolve) => {
      release = resolve
    })
    let answered = false
    await page.route('**/api/logs?*', async (route) => {
      const before = await route.fetch()
      answered = true
      await later
      await route.fulfill({ response: before })
    })
    await page.getByLabel('Range').selectOption('24h')
    await expect.poll(() => answered).toBe(true)
    const { headers } = await t.post('/v1/chat/completions', chat('coder'))
    await expect.poll(() => page.getByRole('row').count()).toBe(6)
    release()
    await page.locator('.list-foot', { hasText: /^\d requests$/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(6)
    await page.getByRole('row').nth(1).click()
    await page.getByRole('heading', { name: headers.get('x-gateway-request-id') as string }).waitFor()
    await close()
    await t.close()
  })

  it('follows the log where live events cannot be judged by the filter', async () => {
    const { t, origin } = await demo()
    const { page, close } = await openPage(origin, '/requests?filter=no-such-model')
    await expect.poll(() => page.locator('.live-mark.live').count()).toBe(1)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    for (const model of ['coder', 'no-such-model', 'no-such-model']) await t.post('/v1/chat/completions', chat(model))
    await expect.poll(() => page.getByRole('row').count(), { timeout: 8000 }).toBe(4)
    await close()
    await t.close()
  })

  it('ends a run of the playground with its page', async () => {
    const { t, origin } = await demo()
    const { page, close } = await openPage(origin, '/playground')
    await page.route('**/api/playground/run', () => {})
    const sent = page.waitForRequest('**/api/playground/run')
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/playground/run'))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await sent
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await ended
    await close()
    await t.close()
  })
})

// The frame around every page: how things are shown, who is signed in, what needs attention, and the palette.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { VERSION } from '../../core/version.ts'
import { BROWSER, openPage } from './browser.ts'
import { demo } from './demo.ts'

describe.skipIf(BROWSER === null)('the shell of the dashboard (needs chromium)', () => {
  const open: TestGateway[] = []
  afterEach(async () => {
    for (const t of open.splice(0)) await t.close()
  })

  async function world(): Promise<{ t: TestGateway; origin: string }> {
    const made = await demo()
    open.push(made.t)
    return made
  }

  it('keeps zone, theme and density in this browser, and ignores values that it does not know', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/requests', { zone: 'Asia/Kolkata' })
    const time = page.getByRole('row').nth(1).locator('time')
    const local = await time.innerText()
    await page.getByLabel('Who am I: system').click()
    await page.getByRole('button', { name: 'UTC', exact: true }).last().click()
    await expect.poll(() => time.innerText()).not.toBe(local)
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    await page.getByRole('button', { name: 'Roomy', exact: true }).click()
    await page.reload()
    await page.getByRole('row').nth(1).waitFor()
    const root = page.locator('html')
    expect([await root.getAttribute('data-theme'), await root.getAttribute('data-density')]).toEqual(['dark', 'roomy'])
    expect(await time.innerText()).not.toBe(local)
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual(['preferences'])
    await page.evaluate('localStorage.setItem("preferences", JSON.stringify({ theme: "<b>", zone: 7, density: "roomy" }))')
    await page.reload()
    await page.getByRole('row').nth(1).waitFor()
    expect([await root.getAttribute('data-theme'), await root.getAttribute('data-density')]).toEqual(['system', 'roomy'])
    await close()
  })

  it('shows version, profile and generation below the pages, and the next generation after a reload', async () => {
    const { t, origin } = await world()
    const { page, close } = await openPage(origin, '/requests')
    const foot = page.locator('.rail-foot')
    const { generation } = (await (await t.fetch('/api/plugins')).json()) as { generation: number }
    await expect.poll(() => foot.innerText()).toBe(`${VERSION} · local · gen ${generation}`)
    await page.getByText('live', { exact: true }).waitFor()
    await t.gateway.reload({ settings: { 'request_log.bodies': true } } as never)
    await expect.poll(() => foot.innerText()).toBe(`${VERSION} · local · gen ${generation + 1}`)
    await close()
  })

  it('leaves out of the menu what a new local gateway does not need, and search still finds it', async () => {
    const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' } })
    open.push(t)
    const { page, close } = await openPage((await t.listen()).url, '/')
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    await page.getByText(VERSION, { exact: false }).first().waitFor()
    expect(await pages.allInnerTexts()).not.toContain('Webhooks')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Audit', selected: true }).waitFor()
    for (const label of ['one', 'two']) await t.post('/api/keys', { label })
    await page.goto(page.url().replace(/system.*/, ''))
    await expect.poll(() => pages.allInnerTexts()).toContain('Webhooks')
    await page.getByLabel('Who am I: system').click()
    await page.getByRole('button', { name: 'Essential' }).click()
    await expect.poll(() => pages.allInnerTexts()).not.toContain('Webhooks')
    await close()
  })

  it('finds settings, models, endpoints and ids, and runs actions, without sending what is typed', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/')
    const hits = page.getByRole('dialog', { name: 'Find or do' }).getByRole('listitem')
    await page.keyboard.press('Control+k')
    await hits.first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(decodeURIComponent(request.url()) + (request.postData() ?? '')))
    const box = page.getByRole('searchbox', { name: 'Find or do' })
    for (const [text, kind] of [
      ['request_log.bo', 'Setting'],
      ['hooks.example.com', 'Webhook'],
      ['echo/echo-1', 'Model'],
      ['see https://gateway.example/requests/req_01a210c9-f9c0-71cb-bfad-7a5bd6ab1ccd !', 'Request'],
    ] as const) {
      await box.fill(text)
      await hits.filter({ hasText: kind }).first().waitFor()
    }
    await box.fill('> test echo')
    await page.keyboard.press('Enter')
    await page.getByText(/✓ echo\/main answered in/).waitFor()
    expect(asked.filter((url) => /request_log\.bo|hooks\.example|7a5bd6ab1ccd|test echo/.test(url))).toEqual([])
    await box.fill('> switch theme')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('light')
    await page.keyboard.press('Control+k')
    await box.fill('> create a key')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /key/i }).waitFor()
    await close()
  })

  it('shows one banner, the worst', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/keys')
    const banner = page.locator('.content > .notice')
    await banner.getByText('No password is set').waitFor()
    const health = await (await fetch(`${origin}/healthz`)).json()
    const answer = { version: VERSION, status: 'ok' }
    await page.route('**/healthz', (route) => route.fulfill({ json: { ...health, ...answer } }))
    const refused = {
      id: 'x',
      severity: 'warning',
      kind: 'reload_refused',
      subject: { kind: 'configuration', id: 'file', label: 'configuration' },
      title: 'The newest configuration was refused: no such provider',
      since: null,
      effect: null,
      levers: [],
      link: null,
    }
    const again = async (): Promise<void> => {
      await page.evaluate('{ const now = Date.now; Date.now = () => now() + 60_000 }')
      await page.evaluate('dispatchEvent(new Event("focus"))')
    }
    answer.version = '99.0.0'
    await again()
    await banner.getByText('The gateway now runs version 99.0.0.').waitFor()
    answer.status = 'degraded'
    await again()
    await banner.getByText('does not answer').waitFor()
    await page.route('**/api/attention', (route) => route.fulfill({ json: { data: [refused] } }))
    // A read that was under way has the answer of before.
    await expect
      .poll(async () => {
        await again()
        return banner.getByText('no such provider').count()
      })
      .toBe(1)
    expect(await banner.count()).toBe(1)
    await close()
  })

  it('has a bar of four pages and a menu of the others on a narrow screen', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/', { width: 360 })
    const pages = page.getByRole('navigation', { name: 'Pages' })
    expect(await pages.getByRole('link').count()).toBe(4)
    await pages.getByText('More').click()
    await pages.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await expect.poll(() => pages.getByRole('link').count()).toBe(4)
    await close()
  })
})

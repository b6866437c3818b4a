// Every page in a real browser: nothing violates the policy, nothing is inaccessible, nothing is wider than the screen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settledPage, violations } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'

const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['overview', '/'],
  ['requests', '/requests'],
  ['playground', '/playground'],
  ['routing', '/routing'],
  ['a virtual model', '/routing/coder'],
  ['a new virtual model', '/routing/+new'],
  ['a virtual model as text', '/routing/coder?as=text'],
  ['connections', '/connections'],
  ['a connection', '/connections?open=5'],
  ['the providers', '/connections?tab=registry'],
  ['accounts', '/connections?tab=sign-ins'],
  ['a new connection', '/connections?add=openai'],
  ['spend', '/spend'],
  ['budgets', '/spend?tab=budgets&open=1'],
  ['reports', '/spend?tab=reports'],
  ['savings', '/spend?tab=savings'],
  ['the advisor', '/spend?tab=advisor'],
  ['the digest', '/spend?tab=advisor&week=2026-W46'],
  ['prices', '/spend?tab=prices&set=new'],
  ['keys', '/keys?open=1'],
  ['a new key', '/keys?add=1'],
  ['webhooks', '/webhooks'],
  ['a new endpoint', '/webhooks?add=1'],
  ['deliveries', '/webhooks?tab=deliveries'],
  ['webhook events', '/webhooks?tab=events&open=budget.crossed'],
  ['a signature', '/webhooks?tab=signature'],
  ['system', '/system'],
  ['the pipeline', '/system?tab=pipeline&plugin=guardrails'],
  ['settings', '/system?tab=settings'],
  ['the audit log', '/system?tab=audit'],
  ['stored responses', '/system?tab=responses'],
  ['tunnels', '/system?tab=tunnel'],
  ['interception', '/system?tab=interception'],
  ['an unknown page', '/no/such/page'],
]

describe.skipIf(BROWSER === null)('pages of the dashboard (needs chromium)', () => {
  let at: Demo
  let empty: Demo['t']
  let emptyOrigin: string
  beforeAll(async () => {
    at = await demo()
    const { createTestGateway } = await import('../../adapters/testing/test-gateway.ts')
    empty = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' }, config: {} })
    emptyOrigin = (await empty.listen()).url
  })
  afterAll(async () => {
    await at.t.close()
    await empty.close()
  })

  it.each(PAGES)('%s is accessible and fits, in both themes and widths', async (_, path) => {
    const { page, close } = await openPage(at.origin, path)
    await settledPage(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 })
        // The themes differ in their colours only.
        const found = await violations(page, colorScheme === 'dark' ? 'color-contrast' : undefined)
        expect(found, `${path} ${colorScheme} ${width}`).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).toBeLessThanOrEqual(width)
      }
    }
    // The page is 360 px wide now: a table that is wider than its frame is cut.
    const cut = await page.locator('.table-frame').evaluateAll((frames) => frames.map((one) => one.scrollWidth - one.clientWidth))
    expect(Math.max(0, ...cut), `${path}: a table wider than its frame`).toBeLessThanOrEqual(1)
    await close()
  })

  it.each([
    ['the menu of the person', '/', '.top summary'],
    ['the facets', '/requests', '.filter-menus summary >> nth=0'],
    ['the columns', '/requests', '.filter-menus summary >> nth=1'],
    ['a request', '/requests', '.list-body .row-button >> nth=0'],
    ['the palette', '/', '.search-button'],
  ])('%s is accessible when it is open, and fits', async (_, path, opener) => {
    const { page, close } = await openPage(at.origin, path)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      await settledPage(page)
      await page.locator(opener).click()
      await settledPage(page)
      expect(await violations(page), `${path} ${width}`).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).toBeLessThanOrEqual(width)
      const panel = await page
        .locator('.menu-panel')
        .boundingBox({ timeout: 500 })
        .catch(() => null)
      expect(panel === null || (panel.x >= 0 && panel.x + panel.width <= width), `${path}: the panel at ${width}`).toBe(true)
      await page.goto(at.origin + path)
    }
    await close()
  })

  it('finds what is not accessible', async () => {
    const { page, close } = await openPage(at.origin, '/keys')
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('button')))
    expect(await violations(page)).toEqual([expect.stringContaining('button-name')])
    await close()
  })

  it.each(PAGES)('%s says what to do on an empty gateway', async (_, path) => {
    const { page, close } = await openPage(emptyOrigin, path, { expected: /404/ })
    expect((await page.locator('main').innerText()).length).toBeGreaterThan(5)
    await close()
  })
})

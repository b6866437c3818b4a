// Every page in a real browser: nothing violates the policy, nothing is inaccessible, nothing is wider than the screen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settledPage, violations } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'
import { AREAS, walk } from './walk.ts'

describe.skipIf(BROWSER === null)('pages of the dashboard (needs chromium)', () => {
  let at: Demo
  beforeAll(async () => {
    at = await demo()
  })
  afterAll(() => at.t.close())

  it.each(AREAS)('%s is accessible and fits, in both themes and widths', async (_, paths) => {
    const { page, close } = await openPage(at.origin, paths[0] as string)
    await walk(page, paths, async (path) => {
      // The page is 360 px wide now: a table that is wider than its frame is cut.
      const cut = await page
        .locator('.table-frame')
        .evaluateAll((frames) => frames.map((one) => one.scrollWidth - one.clientWidth))
      expect(Math.max(0, ...cut), `${path}: a table wider than its frame`).toBeLessThanOrEqual(1)
    })
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
      const menus = page.locator('.menu-panel').filter({ visible: true })
      expect(await menus.count(), opener).toBe(opener.includes('summary') ? 1 : 0)
      const panel = opener.includes('summary') ? await menus.boundingBox() : null
      expect(panel === null || (panel.x >= 0 && panel.x + panel.width <= width), `${path}: the panel at ${width}`).toBe(true)
      await page.keyboard.press('Escape')
      await page.locator('.menu-panel, .peek, dialog').filter({ visible: true }).first().waitFor({ state: 'detached' })
    }
    await close()
  })

  it('finds what is not accessible', async () => {
    const { page, close } = await openPage(at.origin, '/keys')
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('button')))
    expect(await violations(page)).toEqual([expect.stringContaining('button-name')])
    await close()
  })
})

// Pages in a real browser, and what opens over them: nothing violates the policy, nothing is inaccessible, nothing is wider than the screen.
// The other half of the pages has a file of its own.
import { describe, expect, it } from 'vitest'
import { settledPage, violations } from './axe.ts'
import { BROWSER, openPage, visit } from './browser.ts'
import { demo } from './demo.ts'
import { everyPage, FIRST_HALF } from './every-page.ts'
import { sharedPage } from './shared-page.ts'

everyPage(FIRST_HALF)

describe.skipIf(BROWSER === null)('what opens over pages of the dashboard (needs chromium)', () => {
  const shared = sharedPage(demo)

  it.each([
    ['the menu of the person', '/', '.top summary'],
    ['the facets', '/requests', '.filter-menus summary >> nth=0'],
    ['the columns', '/requests', '.filter-menus summary >> nth=1'],
    ['a request', '/requests', '.list-body .row-button >> nth=0'],
    ['the palette', '/', '.search-button'],
  ])('%s is accessible when it is open, and fits', async (_, path, opener) => {
    const { page, check } = shared.opened
    await visit(page, path)
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
    await check()
  })

  it('finds what is not accessible', async () => {
    const { page, close } = await openPage(shared.origin, '/keys')
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('button')))
    expect(await violations(page)).toEqual([expect.stringContaining('button-name')])
    await close()
  })
})

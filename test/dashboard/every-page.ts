// Pages of a gateway that has much and of one that has nothing yet, below some entries of the menu: nothing is inaccessible, nothing is wider
// than the screen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage, type TestPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'
import { byArea, PAGES } from './page-list.ts'
import { walk } from './walk.ts'

type Area = readonly [area: string, paths: readonly string[]]

const AREAS: readonly Area[] = byArea(PAGES).map(([area, pages]) => [area, pages.map(([, path]) => path)])

/** Two workers share them: each has a file of its own. */
export const HALVES: readonly (readonly Area[])[] = [AREAS.slice(0, 5), AREAS.slice(5)]

export function everyPage(areas: readonly Area[]): void {
  describe.skipIf(BROWSER === null)('pages of the dashboard (needs chromium)', () => {
    let at: Demo
    // One document for all areas: to open one takes as much time as a page of it.
    let opened: TestPage
    beforeAll(async () => {
      at = await demo()
      opened = await openPage(at.origin, '/')
    })
    afterAll(async () => {
      await opened.close()
      await at.t.close()
    })

    it.each(areas)('%s is accessible and fits, in both themes and widths', async (_, paths) => {
      const { page, check } = opened
      await walk(page, paths, async (path) => {
        // The page is 360 px wide now: a table that is wider than its frame is cut.
        const cut = await page
          .locator('.table-frame')
          .evaluateAll((frames) => frames.map((one) => one.scrollWidth - one.clientWidth))
        expect(Math.max(0, ...cut), `${path}: a table wider than its frame`).toBeLessThanOrEqual(1)
      })
      await check()
    })
  })

  describe.skipIf(BROWSER === null)('pages of the dashboard on an empty gateway (needs chromium)', () => {
    let t: TestGateway
    let opened: TestPage
    beforeAll(async () => {
      // It logs bodies as the other does, so that its settings look the same.
      t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false', LOG_BODIES: 'true' }, config: {} })
      opened = await openPage((await t.listen()).url, '/', { expected: /404/ })
    })
    afterAll(async () => {
      await opened.close()
      await t.close()
    })

    it.each(areas)('%s says what to do, is accessible and fits, in both themes and widths', async (_, paths) => {
      const { page, check } = opened
      await walk(page, paths, async (path) => {
        expect((await page.locator('main').innerText()).length, path).toBeGreaterThan(5)
      })
      await check()
    })
  })
}

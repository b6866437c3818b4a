// Pages of a gateway that has much and of one that has nothing yet, below some entries of the menu: nothing is inaccessible, nothing is wider
// than the screen.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER } from './browser.ts'
import { demo } from './demo.ts'
import { byArea, PAGES } from './page-list.ts'
import { sharedPage } from './shared-page.ts'
import { walk } from './walk.ts'

type Area = readonly [area: string, paths: readonly string[]]

const AREAS: readonly Area[] = byArea(PAGES).map(([area, pages]) => [area, pages.map(([, path]) => path)])

/** Two workers share the areas: each half has a file of its own. */
export const [FIRST_HALF, SECOND_HALF] = [AREAS.slice(0, 5), AREAS.slice(5)]

async function empty() {
  // It logs bodies as the demo does, so that its settings look the same.
  const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false', LOG_BODIES: 'true' }, config: {} })
  return { t, origin: (await t.listen()).url }
}

export function everyPage(areas: readonly Area[]): void {
  describe.skipIf(BROWSER === null)('pages of the dashboard (needs chromium)', () => {
    const shared = sharedPage(demo)

    it.each(areas)('%s is accessible and fits, in both themes and widths', async (_, paths) => {
      const { page, check } = shared.opened
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
    const shared = sharedPage(empty, { expected: /404/ })

    it.each(areas)('%s says what to do, is accessible and fits, in both themes and widths', async (_, paths) => {
      const { page, check } = shared.opened
      await walk(page, paths, async (path) => {
        expect((await page.locator('main').innerText()).length, path).toBeGreaterThan(5)
      })
      await check()
    })
  })
}

// A walk over pages in one document, as a reader makes it. Each page is examined in both themes and widths.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { settledPage, violations } from './axe.ts'
import { visit } from './browser.ts'
import { byArea, PAGES } from './page-list.ts'

/** The pages below each entry of the menu. */
export const AREAS: readonly (readonly [area: string, paths: readonly string[]])[] = byArea(PAGES).map(([area, pages]) => [
  area,
  pages.map(([, path]) => path),
])

/** @param also is asked at each page, at 360 px */
export async function walk(page: Page, paths: readonly string[], also: (path: string) => Promise<void>): Promise<void> {
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await visit(page, path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 })
        await settledPage(page)
        // The themes differ in their colours only.
        const found = await violations(page, colorScheme === 'dark' ? 'color-contrast' : undefined)
        expect(found, `${path} ${colorScheme} ${width}`).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).toBeLessThanOrEqual(width)
      }
    }
    await also(path)
  }
}

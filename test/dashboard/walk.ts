// A walk over pages in one document, as a reader makes it. Each page is examined in both themes and widths.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { settledPage, violations } from './axe.ts'
import { visit } from './browser.ts'

const WIDTHS = [1280, 360] as const
const SCHEMES = ['light', 'dark'] as const

/** Fingerprints of documents in which axe found nothing. It finds nothing in an equal one, and many pages are equal on an empty gateway. */
const accessible = new Set<string>()

/** @param also is asked at each page, at 360 px */
export async function walk(page: Page, paths: readonly string[], also: (path: string) => Promise<void>): Promise<void> {
  for (const path of paths) {
    await page.setViewportSize({ width: WIDTHS[0], height: 800 })
    await visit(page, path)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      // Each width begins with the scheme of the one before: to change it draws everything again.
      for (const colorScheme of width === WIDTHS[0] ? SCHEMES : SCHEMES.toReversed()) {
        await page.emulateMedia({ colorScheme })
        await settledPage(page)
        const { shown, scrollWidth } = await page.evaluate(fingerprint)
        const state = `${colorScheme} ${width} ${shown}`
        if (!accessible.has(state)) {
          // The themes differ in their colours only.
          const found = await violations(page, colorScheme === 'dark' ? 'color-contrast' : undefined)
          expect(found, `${path} ${colorScheme} ${width}`).toEqual([])
          accessible.add(state)
        }
        expect(scrollWidth, `${path} at ${width}`).toBeLessThanOrEqual(width)
      }
    }
    await also(path)
  }
}

/** Runs in the page. Digits are of the same width, so times and counts of as many are equal. */
async function fingerprint(): Promise<{ shown: string; scrollWidth: number }> {
  const fields = [...document.querySelectorAll<HTMLInputElement>('input, select, textarea')]
  const text = JSON.stringify([document.documentElement.outerHTML, fields.map(({ value, checked }) => [value, checked])])
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text.replace(/\d/g, '0'))))
  return { shown: [...bytes].join(), scrollWidth: document.documentElement.scrollWidth }
}

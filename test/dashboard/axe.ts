// axe-core in the page: what WCAG 2.2 AA forbids.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const require = createRequire(import.meta.url)
const AXE = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** Resolves when what the page asked for has arrived. */
export async function settledPage(page: Page): Promise<void> {
  expect(await page.evaluate(settles), 'the page has all that it asked for').toBe(true)
}

/** Runs in the page: one message, where waitForFunction takes several. */
async function settles(): Promise<boolean> {
  const waits = () => document.querySelector('.skeleton, [aria-busy="true"]') !== null
  const began = performance.now()
  while (waits() && performance.now() - began < 30_000) await new Promise(requestAnimationFrame)
  return !waits()
}

/** No rule of these reads style sheets, which axe would fetch and parse at each run. */
const PRELOAD = `{ assets: ['media'] }`
const RULES = `'wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'`

/** @param only a rule; default: all */
export async function violations(page: Page, only?: string): Promise<string[]> {
  // The source is half a megabyte, and stays in the document.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const run = only === undefined ? `[${RULES}]` : `{ type: 'rule', values: ['${only}'] }`
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ${run}, preload: ${PRELOAD}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as Violation[]
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary ?? ''}`)
}

/** Checks the page as it is, in both widths. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await settledPage(page)
    expect(await violations(page), `${what} at ${width}`).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${what} at ${width}`).toBeLessThanOrEqual(width)
  }
  await page.setViewportSize({ width: 1280, height: 860 })
}

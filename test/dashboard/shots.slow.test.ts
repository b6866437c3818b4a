// Pictures of the pages in two themes and widths. Those of two tabs are equal to the byte; where test/dashboard/shots has pictures, they are
// compared with those. `npm run shots` writes them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { cheapHash } from '../plugins/sign-in/support.ts'
import { BROWSER, openPage, visit } from './browser.ts'
import { demo } from './demo.ts'
import { byArea } from './page-list.ts'
import { difference, drawn, overlaps, picture, THEMES, VIEWS, WIDTHS } from './pictures.ts'
import { sharedPage } from './shared-page.ts'

const FOLDER = join(import.meta.dirname, 'shots')
const WRITES = process.env.SHOTS === 'write'
/** Share of pixels. */
const MOST_DIFFERENT = 0.001
const NOW = Date.UTC(2026, 10, 21, 12)

/** Goes to a view and takes a picture of it in each of the themes and widths. */
async function taken(
  page: Page,
  name: string,
  path: string,
  themes: readonly (typeof THEMES)[number][],
): Promise<Map<string, Buffer>> {
  const shots = new Map<string, Buffer>()
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: WIDTHS[0], height: 800 })
  await visit(page, path)
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      await drawn(page)
      shots.set(`${name}-${colorScheme}-${width}`, await picture(page))
      if (width !== 360) continue
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} ${colorScheme}`).toBeLessThanOrEqual(width)
      expect(await overlaps(page), `${name} ${colorScheme}`).toEqual([])
    }
  }
  return shots
}

/** The tabs are walked through in step: how letters are drawn depends on the sizes before. */
async function drawnTwice([one, other]: readonly [Page, Page], name: string, path: string): Promise<void> {
  const first = await taken(one, name, path, THEMES)
  const second = await taken(other, name, path, ['light'])
  expect(second.size).toBe(WIDTHS.length)
  for (const [shot, bytes] of second) expect(first.get(shot)?.equals(bytes), `${shot} twice`).toBe(true)
  for (const [shot, bytes] of first) {
    const file = join(FOLDER, `${shot}.png`)
    if (WRITES) writeFileSync(file, bytes)
    else if (existsSync(FOLDER))
      expect(await difference(one, bytes, readFileSync(file)), shot).toBeLessThanOrEqual(MOST_DIFFERENT)
  }
}

describe.skipIf(BROWSER === null)('pictures of the dashboard (needs chromium)', () => {
  const shared = sharedPage(() => demo({ clock: fakeClock(NOW) }), { now: NOW, height: 800, expected: /404/ })
  let tabs: [Page, Page]
  beforeAll(async () => {
    tabs = [shared.opened.page, await shared.opened.tab('/')]
    if (WRITES) mkdirSync(FOLDER, { recursive: true })
  })

  // Two tabs for all views: a document for each view takes most of the time.
  it.each(byArea(VIEWS))('%s is drawn the same in two tabs, fits and does not overlap', async (_, views) => {
    for (const [name, path] of views) await drawnTwice(tabs, name, path)
    await shared.opened.check()
  })

  it('the login is drawn the same in two tabs, fits and does not overlap', async () => {
    const locked = await createTestGateway({
      env: { DASHBOARD_PASSWORD_HASH: await cheapHash() },
      ports: { clock: fakeClock(NOW) },
    })
    const { page, tab, close } = await openPage((await locked.listen()).url, '/', { now: NOW, height: 800, expected: /401/ })
    await drawnTwice([page, await tab('/')], 'login', '/')
    await close()
    await locked.close()
  })

  it('sees a difference', async () => {
    const { page, close } = await openPage(shared.origin, '/keys', { now: NOW })
    await drawn(page)
    const before = await picture(page)
    await page.locator('h1').evaluate((title) => title.append(' and more'))
    const share = await difference(page, before, await picture(page))
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(0.1)
    await close()
  })
})

// Pictures of the pages in two themes and widths. Two in a row are equal to the byte; where test/dashboard/shots has pictures, they are
// compared with those. `npm run shots` writes them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { cheapHash } from '../plugins/sign-in/support.ts'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'
import { byArea } from './page-list.ts'
import { difference, drawn, overlaps, picture, THEMES, VIEWS, WIDTHS } from './pictures.ts'

const FOLDER = join(import.meta.dirname, 'shots')
const WRITES = process.env.SHOTS === 'write'
/** Share of pixels. */
const MOST_DIFFERENT = 0.001
const NOW = Date.UTC(2026, 10, 21, 12)

/** Views share a context, and each has a document of its own. */
async function drawnTwice(page: Page, name: string, path: string): Promise<void> {
  const address = new URL(path, page.url()).href
  const shots: Map<string, Buffer>[] = []
  for (let round = 0; round < 2; round++) {
    // The same steps each time: how letters are drawn depends on the sizes before.
    if (page.url() !== address || round > 0) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
      if (page.url() !== address) await page.goto(address)
      else await page.reload()
    }
    await drawn(page)
    const taken = new Map<string, Buffer>()
    for (const colorScheme of round === 0 ? THEMES : (['light'] as const)) {
      await page.emulateMedia({ colorScheme })
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        await drawn(page)
        taken.set(`${name}-${colorScheme}-${width}`, await picture(page))
        if (width !== 360 || round > 0) continue
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} ${colorScheme}`).toBeLessThanOrEqual(width)
        expect(await overlaps(page), `${name} ${colorScheme}`).toEqual([])
      }
    }
    shots.push(taken)
  }
  const [first, second] = shots as [Map<string, Buffer>, Map<string, Buffer>]
  expect(second.size).toBe(WIDTHS.length)
  for (const [shot, bytes] of first) {
    const again = second.get(shot)
    if (again !== undefined) expect(bytes.equals(again), `${shot} twice`).toBe(true)
    const file = join(FOLDER, `${shot}.png`)
    if (WRITES) writeFileSync(file, bytes)
    else if (existsSync(FOLDER))
      expect(await difference(page, bytes, readFileSync(file)), shot).toBeLessThanOrEqual(MOST_DIFFERENT)
  }
}

describe.skipIf(BROWSER === null)('pictures of the dashboard (needs chromium)', () => {
  let at: Demo
  let locked: TestGateway
  let login: string
  beforeAll(async () => {
    at = await demo({ clock: fakeClock(NOW) })
    locked = await createTestGateway({ env: { DASHBOARD_PASSWORD_HASH: await cheapHash() }, ports: { clock: fakeClock(NOW) } })
    login = (await locked.listen()).url
    if (WRITES) mkdirSync(FOLDER, { recursive: true })
  })
  afterAll(async () => {
    await at.t.close()
    await locked.close()
  })

  it.each([
    ...byArea(VIEWS),
    ['login', [['login', '/']]] as const,
  ])('%s is drawn the same twice, fits and does not overlap', async (area, views) => {
    const { page, close } = await openPage(area === 'login' ? login : at.origin, views[0]?.[1] ?? '/', {
      now: NOW,
      height: 800,
      expected: /40[14]/,
    })
    for (const [name, path] of views) await drawnTwice(page, name, path)
    await close()
  })

  it('sees a difference', async () => {
    const { page, close } = await openPage(at.origin, '/keys', { now: NOW })
    await drawn(page)
    const before = await picture(page)
    await page.locator('h1').evaluate((title) => title.append(' and more'))
    const share = await difference(page, before, await picture(page))
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(0.1)
    await close()
  })
})

// Every page of a gateway that has nothing yet: it says what to do, nothing is inaccessible, nothing is wider than the screen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'
import { AREAS, walk } from './walk.ts'

describe.skipIf(BROWSER === null)('pages of the dashboard on an empty gateway (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  beforeAll(async () => {
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' }, config: {} })
    origin = (await t.listen()).url
  })
  afterAll(() => t.close())

  it.each(AREAS)('%s says what to do, is accessible and fits, in both themes and widths', async (_, paths) => {
    const { page, close } = await openPage(origin, paths[0] as string, { expected: /404/ })
    await walk(page, paths, async (path) => {
      expect((await page.locator('main').innerText()).length, path).toBeGreaterThan(5)
    })
    await close()
  })
})

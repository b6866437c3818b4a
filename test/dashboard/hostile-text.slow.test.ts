// Texts of callers and upstreams that try to become code. They are placed wherever the gateway stores what others choose, and every page is
// visited. The page must stay text: no element of theirs, no violation of the policy, hidden characters shown as escapes.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { BROWSER, openPage } from './browser.ts'
import { demo } from './demo.ts'

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
const PATHS = [
  '/',
  '/requests',
  '/requests?open=FIRST&tab=bodies',
  '/requests?open=FIRST&tab=policy',
  '/playground',
  '/routing',
  '/routing/coder',
  '/connections?open=1',
  '/spend',
  '/spend?tab=budgets',
  '/spend?tab=advisor',
  '/spend?tab=advisor&week=2026-W47',
  '/connections?tab=sign-ins',
  '/connections?tab=registry',
  '/keys?open=1',
  '/webhooks',
  '/system?tab=audit',
  '/system?tab=settings',
  '/system?tab=plugins',
  '/system?tab=responses',
  '/system?tab=tunnel',
  '/system?tab=interception',
]

describe.skipIf(BROWSER === null)('hostile texts on every page (needs chromium)', () => {
  it('has at least sixty texts', () => expect(TEXTS.length).toBeGreaterThanOrEqual(60))

  it('stay texts', async () => {
    // All short ones in one label, so that one round over the pages sees each of them.
    for (const text of [...TEXTS.filter(({ length }) => length < 400).reduce(packed, ['']), 'long'.repeat(5000)]) {
      const { t, origin } = await demo({ text })
      const { data } = (await (await t.fetch('/api/logs?limit=5')).json()) as { data: { request_id: string }[] }
      const { page, close } = await openPage(origin, '/', { expected: /404/ })
      for (const path of PATHS) {
        await visited(page, path.replace('FIRST', data[1]?.request_id ?? ''))
        await page.waitForFunction(() => document.querySelector('.skeleton, [aria-busy="true"]') === null)
        const found = await page.evaluate(() => ({
          ran: '__x' in window,
          foreign: [
            ...document.querySelectorAll('script:not([src]), iframe, object, embed, base, marquee, math, #app style, #app img'),
          ].length,
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
          hidden: /[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u001b]/.test(document.body.innerText),
          links: [...document.querySelectorAll('a')].filter(({ href }) => !/^https?:/.test(href)).map(({ href }) => href),
        }))
        expect({ path, ...found }).toEqual({ path, ran: false, foreign: 0, hidden: false, links: [] })
      }
      await close()
      await t.close()
    }
  })
})

/** Goes to a path as a link of the page does: without a new document, which would take most of the time. */
async function visited(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  }, path)
  await page.locator('h1').first().waitFor()
}

/** Joins texts to labels of at most 180 characters, the longest that is stored everywhere. */
function packed(labels: string[], text: string): string[] {
  const last = labels.at(-1) ?? ''
  const joined = last === '' ? text : `${last} ${text}`
  return joined.length <= 180 ? [...labels.slice(0, -1), joined] : [...labels, text]
}

// Pictures of pages: what is in them, what is masked because it is drawn by chance, and how two of them are compared.
import type { CDPSession, Page } from 'playwright-core'
import { settledPage } from './axe.ts'
import type { NamedPath } from './page-list.ts'

export const THEMES = ['light', 'dark'] as const
export const WIDTHS = [1280, 360] as const

/** Each page, a peek, and an error; the login needs a gateway of its own. */
export const VIEWS: readonly NamedPath[] = [
  ['overview', '/'],
  ['requests', '/requests?mode=paused'],
  ['playground', '/playground'],
  ['routing', '/routing'],
  ['connections', '/connections'],
  ['spend', '/spend'],
  ['keys', '/keys'],
  ['webhooks', '/webhooks'],
  ['system', '/system'],
  ['new-key', '/keys?add=1'],
  ['accounts', '/connections?tab=sign-ins'],
  ['providers', '/connections?tab=registry'],
  ['advisor', '/spend?tab=advisor'],
  ['digest', '/spend?tab=advisor&week=2026-W46'],
  ['pipeline', '/system?tab=pipeline'],
  ['plugins', '/system?tab=plugins'],
  ['responses', '/system?tab=responses'],
  ['tunnel', '/system?tab=tunnel'],
  ['interception', '/system?tab=interception'],
  ['peek', '/keys?open=1'],
  ['error', '/no/such/page'],
]

/** Ids, hints of keys and measured figures are grey, and nothing moves. */
const STYLE = `
  code, time, a[href*="/requests/req_"] { background: #808080 !important; color: transparent !important }
  :is(code, time, a[href*="/requests/req_"]) * { visibility: hidden !important }
  * { animation: none !important; transition: none !important; caret-color: transparent !important }`

export async function picture(page: Page): Promise<Buffer> {
  await page.evaluate((style) => {
    if (document.adoptedStyleSheets.length > 0) return
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(style)
    document.adoptedStyleSheets.push(sheet)
  }, STYLE)
  const devtools = await session(page)
  // The encoder that is made for speed loses nothing either, and takes half the time.
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true })
  return Buffer.from(data, 'base64')
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

function session(page: Page): Promise<CDPSession> {
  const had = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, had)
  return had
}

/** Resolves when what the page asked for has arrived and is drawn. */
export async function drawn(page: Page): Promise<void> {
  await settledPage(page)
  // The stream of events stays open, so the network is never idle.
  await page.evaluate(async () => {
    const ended = () =>
      Math.max(0, ...performance.getEntriesByType('resource').map((one) => (one as PerformanceResourceTiming).responseEnd))
    while (performance.now() - ended() <= 150) await new Promise((done) => setTimeout(done, 20))
    await document.fonts.ready
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  })
}

/** Returns pairs of controls in the page that lie on each other, and rows of a list that do. */
export async function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const nameOf = (element: Element): string => `${element.tagName} ${(element.textContent ?? '').trim().slice(0, 30)}`
    // Texts for screen readers only.
    const clipped = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).clipPath === 'inset(50%)' || clipped(element.parentElement))
    // A modal dialog hides what is behind it.
    const modal = document.querySelector(':modal')
    const boxes = (selector: string) =>
      [...document.querySelectorAll(selector)].flatMap((element) => {
        if (modal !== null && !modal.contains(element)) return []
        const box = element.getBoundingClientRect()
        const shown = box.width > 1 && box.height > 1 && (element as HTMLElement).checkVisibility() && !clipped(element)
        return shown ? [{ element, box }] : []
      })
    const found: string[] = []
    for (const selector of [
      'main :is(button, a, input, select, textarea)',
      'main :is(tr, [role="row"])',
      'main h1, main h2, main dt',
    ])
      for (const [index, a] of boxes(selector).entries())
        for (const b of boxes(selector).slice(index + 1)) {
          if (a.element.contains(b.element) || b.element.contains(a.element)) continue
          const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
          const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
          // Lines of one sentence touch.
          if (across > 2 && down > 3) found.push(`${nameOf(a.element)} / ${nameOf(b.element)}`)
        }
    return found
  })
}

/** Returns the share of pixels that differ, 0 to 1; 1 when the sizes differ. The browser decodes both. */
export async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
  if (a.equals(b)) return 0
  const blank = await page.context().newPage()
  try {
    const share = await blank.evaluate(
      async (pictures) => {
        const [a, b] = await Promise.all(
          pictures.map(async (text) => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
            const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d') as OffscreenCanvasRenderingContext2D
            canvas.drawImage(bitmap, 0, 0)
            return canvas.getImageData(0, 0, bitmap.width, bitmap.height)
          }),
        )
        if (a === undefined || b === undefined || a.width !== b.width || a.height !== b.height) return 1
        let differ = 0
        for (let at = 0; at < a.data.length; at += 4) {
          let most = 0
          for (let part = 0; part < 3; part++)
            most = Math.max(most, Math.abs((a.data[at + part] ?? 0) - (b.data[at + part] ?? 0)))
          if (most > 16) differ++
        }
        return differ / (a.data.length / 4)
      },
      [a.toString('base64'), b.toString('base64')],
    )
    return share
  } finally {
    await blank.close()
  }
}

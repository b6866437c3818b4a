// Addresses that were typed by hand, or of things that are gone: the page stands, and a note says what it could not show.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER, openPage, visit } from './browser.ts'
import { type Demo, demo } from './demo.ts'

const WRONG = [
  '/?window=nope',
  '/requests?range=nope',
  '/requests?since=nope',
  '/requests?until=nope',
  '/requests?columns=nope',
  '/playground?dialect=nope',
  '/routing/+new?recipe=nope',
  '/connections?open=999',
  '/connections?tab=nope',
  '/spend?tab=nope',
  '/spend?window=nope',
  '/spend?by=nope',
  '/spend?tab=budgets&open=999',
  '/spend?tab=reports&group=nope',
  '/keys?open=999',
  '/keys?cursor=nope',
  '/routing?optimize=nope',
  '/spend?tab=advisor&open=nope',
  '/spend?tab=advisor&action=nope',
  '/spend?tab=advisor&week=nope',
  '/connections?tab=sign-ins&open=nope',
  '/connections?tab=sign-ins&signin=nope',
  '/system?tab=responses&open=nope',
  '/system?tab=responses&key=nope',
  '/system?tab=responses&cursor=nope',
  '/webhooks?tab=nope',
  '/webhooks?open=nope',
  '/webhooks?tab=deliveries&status=nope',
  '/webhooks?tab=deliveries&endpoint=nope',
  '/webhooks?tab=deliveries&older=nope',
  '/webhooks?tab=events&open=nope',
  '/system?tab=nope',
  '/system?tab=audit&open=999999',
  '/system?tab=plugins&open=nope',
  '/system?tab=pipeline&plugin=nope',
  '/system?tab=pipeline&compare=nope',
  '/system?tab=settings&open=nope',
  '/system?tab=audit&since=nope',
]
/** Values that people and programs put into addresses. */
const ODD = ['', '__proto__', 'constructor', '%00', '%E2%80%AE', '-1', '1e999', '%3Cb%3E', '%', 'a'.repeat(8000)]

describe.skipIf(BROWSER === null)('an address of the dashboard (needs chromium)', () => {
  let world: Demo
  beforeAll(async () => {
    world = await demo()
  })
  afterAll(async () => {
    await world.t.close()
  })

  it('with an unknown value shows the page, and a note that removes it', async () => {
    const { page, close } = await openPage(world.origin, '/')
    const silent: string[] = []
    for (const address of WRONG) {
      // A document for each page; what is typed after it is read in the same way.
      const goes =
        new URL(page.url()).pathname === new URL(address, world.origin).pathname
          ? visit(page, address)
          : page.goto(world.origin + address)
      await goes
      const note = page.getByText('The address asks for')
      await note.waitFor({ timeout: 5000 }).catch(() => silent.push(address))
      if (silent.at(-1) === address) continue
      const name = new URL(address, world.origin).search.split('&').at(-1)?.split('=')[0]?.replace('?', '') as string
      expect(await note.innerText(), address).toContain(`${name}=`)
      await page.getByRole('button', { name: 'Remove it from the address' }).click()
      await note.waitFor({ state: 'detached' })
      expect(new URL(page.url()).searchParams.has(name)).toBe(false)
    }
    expect(silent).toEqual([])
    await close()
  })

  it('with any value whatever is never a blank page', async () => {
    const { page, close } = await openPage(world.origin, '/', { expected: /\b4\d\d\b/ })
    const blank: string[] = []
    for (const address of WRONG) {
      await visit(page, address)
      const texts = await page.evaluate(
        async (paths) => {
          const shown: string[] = []
          for (const path of paths) {
            history.pushState(null, '', path)
            dispatchEvent(new PopStateEvent('popstate'))
            await new Promise(requestAnimationFrame)
            shown.push(document.querySelector('main')?.innerText ?? '')
          }
          return shown
        },
        ODD.map((value) => address.replace(/[^=]+$/, value)),
      )
      for (const [index, text] of texts.entries())
        if (text.length < 10 || text.includes('Something went wrong')) blank.push(`${address} ${ODD[index]}`.slice(0, 80))
    }
    expect(blank).toEqual([])
    await close()
  })
})

// The advisor in the browser: a recommendation with its arithmetic, applied on probation, confirmed and rolled back; what the file owns; the
// digest; addresses typed by hand.
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { times, virtualModel, type World, world } from '../plugins/advisor/support.ts'
import { expectAccessible } from './axe.ts'
import { BROWSER, openPage, type PageOptions, type TestPage } from './browser.ts'

describe.skipIf(BROWSER === null)('the advisor in the dashboard (needs chromium)', () => {
  let w: World
  afterEach(() => w.t.close())

  const open = async (path: string, options: PageOptions = {}): Promise<TestPage> => {
    const { url } = await w.t.listen()
    const opened = await openPage(url, path, { now: w.clock.now(), ...options })
    opened.page.on('dialog', (dialog) => void dialog.accept())
    return opened
  }
  /** Easy work on the expensive target of a virtual model. */
  const dear = async (): Promise<number> => {
    const id = await virtualModel(w, 'coder', ['chat/dear', 'messages/cheap'])
    await times(60, () => w.ask({ model: 'coder' }))
    await w.advice()
    return id
  }
  const targetsOf = async (id: number): Promise<string[]> =>
    (await w.api<{ targets: { target: string }[] }>('GET', `/api/virtual-models/${id}`)).body.targets.map(({ target }) => target)
  const peek = (page: Page) => page.getByRole('complementary')

  it('a recommendation is applied on probation and rolled back', async () => {
    w = await world()
    const id = await dear()
    const { page, close } = await open('/spend?tab=advisor', { expected: /\b400\b/ })
    const [rec] = (await w.api<{ data: { title: string; est_monthly_usd: number; detail: string }[] }>('GET', '/api/advisor'))
      .body.data
    await page.getByRole('row', { name: /messages\/cheap first/ }).click()
    const details = peek(page)
    await details.getByText(rec?.detail as string).waitFor()
    await details.getByText('30 %', { exact: true }).waitFor()
    // The link leads to the requests that were counted.
    expect(await details.getByRole('link', { name: 'See these requests' }).getAttribute('href')).toContain(
      encodeURIComponent('vm:coder model:dear'),
    )
    await expectAccessible(page, 'a recommendation')
    await details.getByLabel('Probation, hours').fill('0')
    await details.getByRole('button', { name: 'Apply on probation' }).click()
    await details.locator('.field').getByRole('alert').waitFor()
    await details.getByLabel('Probation, hours').fill('48')
    await details.getByRole('button', { name: 'Apply on probation' }).click()
    await details.getByRole('button', { name: 'Confirm' }).waitFor()
    await details.getByText(/^in (?:1 d 23 h|2 d)/).waitFor()
    expect(await targetsOf(id)).toEqual(['messages/cheap', 'chat/dear'])
    await expectAccessible(page, 'an applied action')
    // The address opens the same action again.
    const address = page.url()
    expect(address).toContain('action=1')
    await page.goto(address)
    await details.getByRole('row', { name: /14 days before 60/ }).waitFor()
    await details.getByRole('button', { name: 'Roll back' }).click()
    await details.getByText('taken back: by hand').waitFor()
    expect(await targetsOf(id)).toEqual(['chat/dear', 'messages/cheap'])
    expect(await details.getByRole('button', { name: 'Confirm' }).count()).toBe(0)
    await close()
  })

  it('a confirmation ends the watch; a viewer sees no buttons', async () => {
    w = await world()
    await dear()
    const { page, close } = await open('/spend?tab=advisor')
    await page.getByRole('row', { name: /messages\/cheap first/ }).click()
    await page.getByRole('button', { name: 'Apply on probation' }).click()
    await peek(page).getByRole('button', { name: 'Confirm' }).waitFor()
    await times(3, () => w.ask({ model: 'coder' }))
    await w.t.untilCommitted(0)
    await page.reload()
    await peek(page)
      .getByRole('row', { name: /since the change 3/ })
      .waitFor()
    await page.route('**/api/auth/me', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), role: 'member' } })
    })
    await page.reload()
    await peek(page).getByText('on probation').first().waitFor()
    expect(
      await peek(page)
        .getByRole('button', { name: /Confirm|Roll back/ })
        .count(),
    ).toBe(0)
    await page.unroute('**/api/auth/me')
    await page.reload()
    await peek(page).getByRole('button', { name: 'Confirm' }).click()
    await peek(page).getByText('confirmed').first().waitFor()
    await close()
  })

  it('for a virtual model of the file the change is shown as text for the file', async () => {
    w = await world({ config: { virtualModels: { coder: { strategy: 'failover', targets: ['chat/dear', 'messages/cheap'] } } } })
    await times(60, () => w.ask({ model: 'coder' }))
    await w.advice()
    const { page, close } = await open('/spend?tab=advisor')
    await page.getByRole('row', { name: /messages\/cheap first/ }).click()
    await peek(page).getByRole('heading', { name: 'To do by hand' }).waitFor()
    expect(await peek(page).locator('pre').innerText()).toBe(
      'virtualModels: { "coder": { targets: ["messages/cheap", "chat/dear"] } }',
    )
    expect(await peek(page).getByRole('button', { name: 'Apply on probation' }).count()).toBe(0)
    await expectAccessible(page, 'a change by hand')
    await close()
  })

  it('shows the digest of a week, and refuses a wrong one at its field', async () => {
    w = await world()
    await dear()
    const { page, close } = await open('/spend?tab=advisor&week=2026-W45', { expected: /\b400\b/ })
    const digest = page.getByRole('region', { name: 'Digest of a week' })
    await digest.getByText('2026-W45').waitFor()
    for (const wrong of ['last week', '2026-W60', '2025-W53']) {
      await digest.getByLabel('Week').fill(wrong)
      await digest.getByRole('button', { name: 'Show' }).click()
      await digest.locator('.field').getByRole('alert').waitFor()
    }
    await digest.getByLabel('Week').fill('2026-W46')
    await digest.getByRole('button', { name: 'Show' }).click()
    await digest.getByText('2026-W46').waitFor()
    expect(page.url()).toContain('week=2026-W46')
    // An opportunity opens its recommendation.
    await digest.getByRole('button', { name: /messages\/cheap first/ }).click()
    await peek(page).getByRole('heading', { name: 'Evidence' }).waitFor()
    await close()
  })

  it('falls back with a note for an address typed by hand, and says when there is nothing', async () => {
    w = await world()
    const { page, close } = await open('/spend?tab=advisor&open=rec_nope&action=77&week=soon', { expected: /\b409\b/ })
    for (const part of ['open=rec_nope', 'action=77', 'week=soon']) await page.getByText(part).waitFor()
    await page.getByText('Nothing to recommend').waitFor()
    await page.route('**/api/advisor', (route) => route.fulfill({ status: 409, json: { error: { message: 'Not now.' } } }))
    await page.reload()
    await page.getByText('Not now.').waitFor()
    await close()
  })
})

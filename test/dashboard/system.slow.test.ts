// The page System: the pipeline with its generations, settings with their origin, and the audit log.
import { afterEach, describe, expect, it } from 'vitest'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'

describe.skipIf(BROWSER === null)('the page System (needs chromium)', () => {
  const open: Demo[] = []
  afterEach(async () => {
    for (const { t } of open.splice(0)) await t.close()
  })

  async function world(): Promise<Demo> {
    const made = await demo()
    open.push(made)
    return made
  }

  it('lights the hooks that a request reached', async () => {
    const { origin } = await world()
    const logs = (await (await fetch(`${origin}/api/logs`)).json()) as { data: { request_id: string; status: number }[] }
    const refused = logs.data.find(({ status }) => status === 400)?.request_id as string
    const answered = logs.data.find(({ status }) => status === 200)?.request_id as string
    const { page, close } = await openPage(origin, `/system?tab=pipeline&request=${answered}`)
    const lit = page.locator('.reached dt')
    await expect.poll(() => lit.allInnerTexts()).toContainEqual(expect.stringContaining('attempt'))
    await page.getByLabel('Light a request').fill(refused)
    await expect.poll(() => lit.allInnerTexts()).not.toContainEqual(expect.stringContaining('attempt'))
    await expect.poll(() => lit.allInnerTexts()).toContainEqual(expect.stringContaining('ingress'))
    await page.getByLabel('Light a request').fill('nonsense')
    await page.getByText('This is not the id of a request.').waitFor()
    await close()
  })

  it('compares the order with the generation before, and counts failures at their hook', async () => {
    const { origin } = await world()
    const real = await (await fetch(`${origin}/api/plugins`)).json()
    expect(real).toMatchObject({ generation: 1, before: null })
    const { page, close } = await openPage(origin, '/system?tab=pipeline')
    await page.getByRole('heading', { name: 'Pipeline, generation 1' }).waitFor()
    expect(await page.getByRole('button', { name: /Compare/ }).count()).toBe(0)
    const order = real.order.map((one: { hook: string; plugins: string[] }) =>
      one.hook === 'ingress' ? { hook: 'ingress', plugins: ['gone'] } : one,
    )
    const data = real.data.map((one: { name: string }) =>
      one.name === 'keys' ? { ...one, errors: 3, hook_errors: [{ hook: 'authenticate', errors: 3 }] } : one,
    )
    await page.route('**/api/plugins', (route) =>
      route.fulfill({ json: { ...real, data, generation: 2, before: { generation: 1, sealed_at: real.sealed_at, order } } }),
    )
    await page.reload()
    await page.getByRole('button', { name: 'Compare with generation 1' }).click()
    const ingress = page.locator('.pipeline dl > div', { has: page.getByText('ingress', { exact: true }) })
    await ingress.getByText('added').waitFor()
    await ingress.locator('del', { hasText: 'gone' }).waitFor()
    await page.locator('.pipeline dl > div', { hasText: 'authenticate' }).getByText('3 failed').waitFor()
    await close()
  })

  it('shows where the value of a setting comes from, and resets it to what it inherits', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/system?tab=settings&q=request_log.bodies')
    const row = page.getByRole('row', { name: /request_log\.bodies/ })
    const winner = row.locator('.origin strong')
    // The demo sets GATEWAY_LOG_BODIES.
    await expect.poll(() => winner.innerText()).toBe('env')
    await row.getByRole('button', { name: /Edit/ }).click()
    await page.getByLabel('request_log.bodies').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => winner.innerText()).toBe('stored')
    await row.getByRole('button', { name: /to inherited/ }).click()
    await expect.poll(() => winner.innerText()).toBe('env')
    await close()
  })

  it('filters the audit log by day, verifies the chain and saves it', async () => {
    const { origin } = await world()
    const { page, close } = await openPage(origin, '/system?tab=audit')
    await page.getByRole('row').nth(1).waitFor()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(/the chain is whole up to entry \d/).waitFor()
    const file = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await file).suggestedFilename()).toBe('audit.jsonl')
    await page.getByLabel('To this day, UTC').fill('2020-01-31')
    await page.getByText('No entry fits').waitFor()
    expect(new URL(page.url()).searchParams.get('until')).toBe('2020-01-31')
    await close()
  })
})

// At night, on a telephone: an outage at an upstream, a model that is locked, a budget that is used up. From the overview the cause and the
// lever are at most three taps away, the lever works, and the audit log says who pulled it.
import type { Locator, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply, type Step } from '../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { type Site, site } from '../plugins/budgets/support.ts'
import { bearer } from '../plugins/keys/support.ts'
import { BROWSER, openPage } from './browser.ts'

const WIDTH = 360

describe.skipIf(BROWSER === null)('the dashboard at three in the morning (needs chromium)', () => {
  let s: Site
  let acme: ScriptedUpstream
  let id: number
  let taps: string[]
  afterEach(async () => {
    await s.close()
    await acme.close()
  })

  /** Requests for `coder` go to acme first, then to another provider. */
  async function start(...steps: Step[]): Promise<string> {
    taps = []
    acme = await scriptedUpstream(...steps)
    s = await site({ upstream: [reply({ text: 'Hello.', usage: { input: 0, output: 100 } })] })
    const connection = {
      provider: 'acme',
      label: 'main',
      base_url: acme.baseUrl('chat'),
      wire_format: 'chat',
      api_key: 'sk-acme',
    }
    id = ((await s.api('POST', '/api/providers', connection)).body as { id: number }).id
    await s.api('POST', '/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['acme/m', 'chat/m'] })
    return (await s.t.listen()).url
  }

  const overview = async (origin: string) => {
    const opened = await openPage(origin, '/', { width: WIDTH, expected: /\b40[29]\b/ })
    // A lever asks first: with a dialog of the browser, or one of the page.
    opened.page.on('dialog', (dialog) => void dialog.accept('found at night'))
    return opened
  }

  async function tap(what: Locator, name: string): Promise<void> {
    const box = await what.boundingBox()
    // A link in a sentence is as high as its line.
    const inline = await what.evaluate((element) => getComputedStyle(element).display === 'inline')
    if (!inline) expect(Math.min(box?.height ?? 0, box?.width ?? 0), `size of ${name}`).toBeGreaterThanOrEqual(24)
    expect((box?.x ?? 0) + (box?.width ?? 0), `right end of ${name}`).toBeLessThanOrEqual(WIDTH)
    await what.click()
    taps.push(name)
  }

  /** Answers a question of the page, if the lever asks there. */
  async function confirmed(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog')
    if ((await dialog.count()) === 0) return
    const reason = dialog.getByRole('textbox')
    if ((await reason.count()) > 0) await reason.first().fill('found at night')
    await tap(
      dialog
        .getByRole('button')
        .filter({ hasNotText: /cancel|close|✕/i })
        .last(),
      'confirm',
    )
  }

  const fact = (page: Page, text: RegExp): Locator =>
    page
      .getByRole('region', { name: /^Attention/ })
      .getByRole('listitem')
      .filter({ hasText: text })

  async function audited(page: Page, origin: string, action: string, target: string): Promise<void> {
    await page.goto(`${origin}/system?tab=audit`)
    await page
      .getByRole('row', { name: new RegExp(`${action.replace('.', '\\.')}.*${target}`) })
      .first()
      .waitFor()
  }

  it('an outage: the cause is on the overview, and disabling the connection ends the calls to it', async () => {
    const origin = await start(fail(500, { message: 'the region is down' }))
    for (let i = 0; i < 6; i++) expect(await s.spend({ model: 'coder' })).toBe(200)
    const { page, close } = await overview(origin)
    const line = fact(page, /acme\/main/)
    await line.getByText(/circuit of acme\/main is open/).waitFor()
    // What it does to requests is there as well.
    expect((await line.innerText()).split('\n').length).toBeGreaterThan(2)
    await tap(line.getByRole('link', { name: 'Open' }), 'open')
    await page.getByText('the region is down').first().waitFor()
    await page.goBack()
    await tap(fact(page, /acme\/main/).getByRole('button', { name: 'Disable it' }), 'disable')
    await confirmed(page)
    await expect.poll(async () => (await s.api<{ enabled: boolean }>('GET', `/api/providers/${id}`)).body.enabled).toBe(false)
    expect(taps.length).toBeLessThanOrEqual(3)
    await expect.poll(() => fact(page, /circuit of acme/).count()).toBe(0)
    const before = acme.requests.length
    for (let i = 0; i < 3; i++) expect(await s.spend({ model: 'coder' })).toBe(200)
    expect(acme.requests).toHaveLength(before)
    await audited(page, origin, 'provider.update', String(id))
    await close()
  })

  it('a lock: the connection says why, and ending it sends requests there again', async () => {
    const origin = await start(fail(404, { message: 'no such deployment' }), reply({ text: 'Back.' }))
    await s.api('PUT', '/api/virtual-models/1', { targets: ['acme/m'] })
    expect(await s.spend({ model: 'coder' })).toBeGreaterThanOrEqual(400)
    expect(await s.spend({ model: 'coder' })).toBeGreaterThanOrEqual(400)
    expect(acme.requests).toHaveLength(1)
    const { page, close } = await overview(origin)
    await fact(page, /coder/).waitFor()
    await tap(page.getByRole('link', { name: 'acme/main' }).first(), 'the connection')
    await page.getByText('no such deployment').first().waitFor()
    await tap(page.getByRole('button', { name: 'Clear all locks' }), 'clear the locks')
    await confirmed(page)
    await expect.poll(() => page.getByRole('button', { name: 'Clear all locks' }).count()).toBe(0)
    expect(taps.length).toBeLessThanOrEqual(3)
    expect(await s.spend({ model: 'coder' })).toBe(200)
    await audited(page, origin, 'provider.clear_locks', String(id))
    await close()
  })

  it('an outage of a connection of the file: locking it for an hour ends the calls to it', async () => {
    const origin = await start(reply({ text: 'Here.' }))
    s.t.upstream.script(fail(500, { message: 'the region is down' }))
    await s.api('PUT', '/api/virtual-models/1', { targets: ['chat/m', 'acme/m'] })
    for (let i = 0; i < 6; i++) expect(await s.spend({ model: 'coder' })).toBe(200)
    const { page, close } = await overview(origin)
    await tap(fact(page, /circuit of chat\/.* is open/).getByRole('button', { name: 'Lock it for an hour' }), 'lock')
    await confirmed(page)
    const { data } = (await s.api<{ data: { id: number; provider: string }[] }>('GET', '/api/providers')).body
    const chat = data.find(({ provider }) => provider === 'chat')?.id
    const locks = async () =>
      (await s.api<{ state: { model_locks: object[] } }>('GET', `/api/providers/${chat}`)).body.state.model_locks
    await expect.poll(locks).toMatchObject([{ model: '*', reason: 'operator' }])
    await page.goto(`${origin}/connections?open=${chat}`)
    await page.getByText('all models').waitFor()
    expect(await page.getByRole('button', { name: 'Lock for an hour' }).count()).toBe(0)
    await tap(page.getByRole('button', { name: 'Clear all locks' }), 'clear the locks')
    await page.getByRole('button', { name: 'Lock for an hour' }).waitFor()
    await audited(page, origin, 'provider.lock', String(chat))
    await close()
  })

  it('a budget that is used up: raising it lets the key’s requests through', async () => {
    const origin = await start(fail(500))
    const key = await s.key({ label: 'ci-bot' })
    await s.budget({ scope: 'key', entity_id: key.id, window: 'daily', hard_limit_usd: 0.01 })
    const ask = { model: 'chat/m', max_tokens: 900 }
    s.t.upstream.script(reply({ text: 'Much.', usage: { input: 0, output: 1000 } }))
    expect(await s.spend(ask, bearer(key.key))).toBe(200)
    expect(await s.spend(ask, bearer(key.key))).toBe(402)
    const { page, close } = await overview(origin)
    const line = fact(page, /budget of key ci-bot is used up/)
    await line.getByText(/refused with 402/).waitFor()
    await tap(line.getByRole('button', { name: /Raise it/ }), 'raise')
    await confirmed(page)
    await expect.poll(() => fact(page, /is used up/).count()).toBe(0)
    expect(taps.length).toBeLessThanOrEqual(3)
    expect(await s.spend({ ...ask, max_tokens: 10 }, bearer(key.key))).toBe(200)
    await audited(page, origin, 'budget.increase', '1')
    await close()
  })
})

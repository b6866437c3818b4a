// The tasks of people who use the dashboard, in a real browser over a listening gateway.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'
import { demo } from './demo.ts'

const run = promisify(execFile)
const PASSWORD = 'correct horse battery staple'
/** Argon2id of PASSWORD with small costs, for tests. */
async function passwordHash(): Promise<string> {
  const { hash } = await import('@node-rs/argon2')
  return hash(PASSWORD, { memoryCost: 1024, timeCost: 1 })
}

describe.skipIf(BROWSER === null)('the dashboard (needs chromium)', () => {
  const open: TestGateway[] = []
  afterEach(async () => {
    for (const t of open.splice(0)) await t.close()
  })

  async function gateway(env: Record<string, string> = {}): Promise<{ t: TestGateway; origin: string }> {
    const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false', ...env } })
    open.push(t)
    return { t, origin: (await t.listen()).url }
  }

  it('ticks the steps of the first run when the gateway has seen them, not before', async () => {
    const { t, origin } = await gateway()
    await t.post('/api/providers', { provider: 'echo' })
    const { page, close } = await openPage(origin, '/')
    const steps = page.getByRole('heading', { name: /First steps/ })
    await steps.getByText('1 of 4').waitFor()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Label').fill('first')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const secret = await page.locator('[data-secret]').innerText()
    expect(secret).toMatch(/^gw_/)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    // The secret is gone from the page, and was never stored by it.
    expect(await page.content()).not.toContain(secret)
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(secret)
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'hello' }] }),
    })
    expect(answer.status).toBe(200)
    await answer.text()
    await t.untilCommitted(1)
    await page.goto(origin)
    await page.getByText('Requests', { exact: true }).first().waitFor()
    await expect.poll(() => steps.count()).toBe(0)
    await close()
  })

  it.each([
    ['a client key', '/keys?add=1', 'Label', 'app', 'Create', /^export HOOKGATE_KEY=gw_/],
    ['a management token', '/system?tab=tokens&add=1', 'Label', 'ci', 'Create', /^export HOOKGATE_TOKEN=gmt_/],
    ['a signing secret', '/webhooks?add=1', 'Address', 'https://hooks.example.com/in', 'Add', null],
  ])('offers a first call with %s only if it calls the gateway, and the call works', async (_, path, field, value, submit, command) => {
    const { origin } = await gateway()
    const { page, close } = await openPage(origin, path)
    await page.evaluate(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } } })',
    )
    await page.getByLabel(field).fill(value)
    await page.getByRole('button', { name: submit, exact: true }).click()
    const secret = await page.locator('[data-secret]').innerText()
    const first = page.getByRole('button', { name: 'Copy with a first call' })
    if (command === null) expect(await first.count()).toBe(0)
    else {
      await first.click()
      const text = String(await page.evaluate('window.copied'))
      expect(text).toMatch(command)
      expect(text).toContain(secret)
      const { stdout } = await run('sh', ['-c', text.replace('\ncurl ', '\ncurl -s -w "%{http_code}" -o /dev/null ')])
      expect(stdout).toBe('200')
    }
    await close()
  })

  it('shows a request while the page is open, and why it went where it went', async () => {
    const { t, origin } = await demo()
    open.push(t)
    const { page, close } = await openPage(origin, '/requests')
    await page.getByText('live', { exact: false }).first().waitFor()
    await expect.poll(() => page.locator('.live-mark.live').count()).toBe(1)
    const answer = await t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'late' }] })
    const id = answer.headers.get('x-gateway-request-id') as string
    await expect.poll(() => page.getByRole('row').count()).toBe(6)
    await page.getByRole('row').nth(1).click()
    await page.getByRole('heading', { name: id }).waitFor()
    await page.getByText('echo/echo-1').last().waitFor()
    await page.getByText('returned').waitFor()
    expect(new URL(page.url()).searchParams.get('open')).toBe(id)
    // A copied link shows the same request.
    await page.goto(`${origin}/requests/${id}`)
    await page.getByText('returned').waitFor()
    await close()
  })

  it('filters by the words of the log, keeps them in the address, and never sends a secret', async () => {
    const { t, origin } = await demo()
    open.push(t)
    const { page, close } = await openPage(origin, '/requests')
    const rows = page.getByRole('row')
    await expect.poll(() => rows.count()).toBe(5)
    await page.getByLabel('Filter').fill('status:4xx')
    await expect.poll(() => rows.count()).toBe(2)
    await page.reload()
    await expect.poll(() => rows.count()).toBe(2)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByLabel('Filter').fill('gw_aSecretThatWasPasted00000000000000000000000')
    await page.getByText('looks like a secret').waitFor()
    expect([page.url(), ...asked].filter((url) => url.includes('aSecret'))).toEqual([])
    await page.getByLabel('Filter').fill('colour:red')
    await page.getByText('There is no filter').waitFor()
    await close()
  })

  it('asks for the password, keeps the page under the login, and forgets the session on sign-out', async () => {
    const { origin } = await gateway({ DASHBOARD_PASSWORD_HASH: await passwordHash() })
    const { page, close } = await openPage(origin, '/keys', { expected: /401|403|429/ })
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(page.url()).toBe(`${origin}/keys`)
    const stored = await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage)])
    expect(stored).toEqual([expect.not.arrayContaining(['session']), ['session']])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    await close()
  })

  it('shows the server’s refusal at the field that is wrong', async () => {
    const { origin } = await gateway()
    const { page, close } = await openPage(origin, '/keys?add=1', { expected: /400/ })
    await page.getByLabel('Label').fill('ci')
    await page.getByLabel('Requests per minute').fill('-1')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const field = page.locator('.field', { has: page.getByLabel('Requests per minute') })
    await field.getByRole('alert').waitFor()
    expect(await field.getByRole('spinbutton').getAttribute('aria-invalid')).toBe('true')
    // The page keeps the text that was typed.
    expect(await page.getByLabel('Requests per minute').inputValue()).toBe('-1')
    await close()
  })

  it.each([
    '/keys?add=1',
    '/webhooks?add=1',
    '/system?tab=tokens&add=1',
    // Its form waits for the list of the providers.
    '/connections?add=openai',
  ])('the dialog of %s begins with its first field, not with the button that closes it', async (path) => {
    const { origin } = await gateway()
    const { page, close } = await openPage(origin, path)
    await page.getByRole('dialog').getByRole('textbox').first().waitFor()
    const focused = () =>
      page.evaluate(() => {
        const fields = [...document.querySelectorAll('dialog :is(input, select, textarea)')]
        return fields.length > 0 && document.activeElement === fields[0]
      })
    await expect.poll(focused).toBe(true)
    await close()
  })

  it('keeps the focus in a dialog whose next step replaces what had it', async () => {
    const { origin } = await gateway()
    const { page, close } = await openPage(origin, '/connections?add=1')
    await page.getByLabel('Provider').fill('openai')
    await page.getByRole('button', { name: /^OpenAI openai$/ }).press('Enter')
    await page.getByRole('heading', { name: 'Connect OpenAI' }).waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.matches('dialog form :is(input, select)')")).toBe(true)
    await close()
  })

  it('is used without a mouse', async () => {
    const { t, origin } = await demo()
    open.push(t)
    const { page, close } = await openPage(origin, '/')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(5)
    await page.keyboard.press('j')
    await page.locator('.peek').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.peek').count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('coder')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'coder', level: 1 }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await close()
  })

  it('says that the gateway is gone, and keeps what it showed', async () => {
    const { t, origin } = await demo()
    const { page, close } = await openPage(origin, '/keys', { expected: /ERR_|Failed to (?:load|fetch)/ })
    await page.getByRole('row').nth(1).waitFor()
    await t.close()
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await page.waitForTimeout(2500)
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await page.getByRole('alert').getByText('does not answer').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await close()
  })
})

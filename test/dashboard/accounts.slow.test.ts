// Accounts with a sign-in, tunnels, the interception proxy and stored responses in the browser.
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { folder } from '../adapters/cli/hookgate.ts'
import { type FakeHost, fakeHost, HOST, intercepting } from '../plugins/interception/support.ts'
import { type Setup, setup } from '../plugins/oauth-accounts/support.ts'
import { expectAccessible } from './axe.ts'
import { BROWSER, openPage, type PageOptions, type TestPage } from './browser.ts'

const opened = async (t: TestGateway, path: string, options: PageOptions = {}): Promise<TestPage> => {
  const { url } = await t.listen()
  const page = await openPage(url, path, options)
  page.page.on('dialog', (dialog) => void dialog.accept())
  return page
}

describe.skipIf(BROWSER === null)('accounts with a sign-in (needs chromium)', () => {
  let s: Setup
  afterEach(() => s.close())
  const open = (path: string, options: PageOptions = {}) => opened(s.t, path, { now: s.clock.now(), ...options })

  it('signs in with a browser: a wrong address is refused at its field, the right one makes the account', async () => {
    s = await setup()
    const { page, close } = await open('/connections?tab=sign-ins', { expected: /\b400\b/ })
    await page.getByText('No account is signed in to').waitFor()
    await page.getByRole('button', { name: 'Sign in to Acme' }).click()
    expect(page.url()).toContain('signin=acme')
    await page.getByRole('button', { name: 'Begin' }).click()
    const link = page.getByRole('link', { name: 'Open the sign-in of Acme' })
    const { code, state, redirectUri } = s.vendor.authorize((await link.getAttribute('href')) as string)
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    await expectAccessible(page, 'a sign-in with a browser')
    for (const wrong of ['nothing', `${redirectUri}?code=x&state=forged`, `${redirectUri}?error=access_denied&state=${state}`]) {
      await page.getByLabel('Address of the last page').fill(wrong)
      await page.getByRole('button', { name: 'Finish' }).click()
      await page.locator('dialog .field').getByRole('alert').waitFor()
    }
    await page.getByLabel('Address of the last page').fill(`${redirectUri}?code=${code}&state=${state}`)
    await page.getByRole('button', { name: 'Finish' }).click()
    const account = page.getByRole('complementary', { name: 'ada@example.test' })
    await account.getByText('signed in').waitFor()
    expect(page.url()).not.toContain(code)
    await expectAccessible(page, 'an account')
    // Its connection names the account.
    await account.getByRole('link', { name: 'Its connection' }).click()
    await page.getByRole('complementary').getByText('ada@example.test').first().waitFor()
    const text = await page.content()
    for (const secret of s.vendor.secrets) expect(text).not.toContain(secret)
    await close()
  })

  it('notices the answer that the gateway got by itself', async () => {
    s = await setup()
    const { page, close } = await open('/connections?tab=sign-ins&signin=acme')
    await page.getByRole('button', { name: 'Begin' }).click()
    const href = await page.getByRole('link', { name: 'Open the sign-in of Acme' }).getAttribute('href')
    const { code, state, redirectUri } = s.vendor.authorize(href as string)
    expect((await fetch(`${redirectUri}?code=${code}&state=${state}`)).status).toBe(200)
    await page.getByRole('complementary', { name: 'ada@example.test' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await close()
  })

  it('signs in with a code, and again after the vendor refused the refresh token; signs out', async () => {
    s = await setup()
    const { page, close } = await open('/connections?tab=sign-ins&signin=acme&flow=device', {
      expected: /\b(?:401|409|502|503|400)\b/,
    })
    await page.route('**/device', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), interval: 0.2 } })
    })
    await page.getByRole('button', { name: 'Get a code' }).click()
    await page.getByText('WDJB-MJHT').waitFor()
    await page.getByText('waiting for the code to be entered').waitFor()
    await expectAccessible(page, 'a sign-in with a code')
    s.vendor.confirmed = true
    await s.clock.advance('6s')
    const entered = async (): Promise<number> => {
      await s.clock.advance('6s')
      return page.getByRole('complementary').count()
    }
    await expect.poll(entered).toBe(1)
    const account = page.getByRole('complementary')
    await account.getByText('signed in').waitFor()
    s.vendor.forgetAll()
    await account.getByRole('button', { name: 'Renew the token' }).click()
    await account.getByText('sign in again').first().waitFor()
    // The overview names it, and its link leads to the account.
    await expectAccessible(page, 'an account that needs a sign-in')
    await account.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('No account is signed in to').waitFor()
    await close()
  })

  it('falls back with a note for an address typed by hand; a viewer sees no buttons', async () => {
    s = await setup()
    await s.signIn()
    const { page, close } = await open('/connections?tab=sign-ins&open=99&signin=nobody')
    for (const part of ['open=99', 'signin=nobody']) await page.getByText(part).waitFor()
    await page.route('**/api/auth/me', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), role: 'member' } })
    })
    await page.reload()
    await page.getByRole('row', { name: /ada@example.test/ }).click()
    await page.getByRole('complementary').getByText('inference, profile').waitFor()
    expect(await page.getByRole('button', { name: /Sign in|Sign out|Renew/ }).count()).toBe(0)
    await close()
  })
})

describe.skipIf(BROWSER === null)('the edges of a local gateway (needs chromium)', () => {
  let t: TestGateway
  let vendor: FakeHost | undefined
  afterEach(async () => {
    await t.close()
    vendor?.close()
    vendor = undefined
  })

  it('says why a tunnel is not opened', async () => {
    t = await createTestGateway({})
    const { page, close } = await opened(t, '/system?tab=tunnel', { expected: /\b409\b/ })
    await page.getByRole('button', { name: 'Open a tunnel with Cloudflare' }).click()
    await page.getByRole('alert').getByText('GATEWAY_REQUIRE_API_KEY').waitFor()
    await expectAccessible(page, 'tunnels')
    await close()
  })

  it('starts the interception proxy, maps a host and refuses wrong aliases at the field', async () => {
    vendor = await fakeHost(folder({}))
    const made = await intercepting(vendor, {})
    t = made.t
    const { page, close } = await opened(t, '/system?tab=interception', { expected: /\b400\b/ })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('runs', { exact: true }).waitFor()
    await page.getByRole('button', { name: `Lead here: ${HOST}` }).click()
    await page.getByText('leads here').waitFor()
    expect(readFileSync(made.hostsFile, 'utf8')).toContain(HOST)
    await expectAccessible(page, 'the interception proxy')
    const aliases = page.getByLabel('Targets by tool and model, as JSON')
    for (const wrong of ['no JSON', '{"nope":{}}', '{"ide":{"gpt-5":5}}']) {
      await aliases.fill(wrong)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('.field').getByRole('alert').waitFor()
      expect(await aliases.inputValue()).toBe(wrong)
    }
    await aliases.fill('{"ide":{"*":"chat/m"}}')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(async () => ((await (await t.fetch('/api/mitm')).json()) as { aliases: object }).aliases)
      .toEqual({
        ide: { '*': 'chat/m' },
      })
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('off', { exact: true }).waitFor()
    await close()
  })

  it('the cloud profile shows neither', async () => {
    t = await createTestGateway({})
    const { page, close } = await opened(t, '/system')
    await page.getByRole('tab', { name: 'Tunnel' }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.route('**/healthz', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), profile: 'cloud' } })
    })
    await page.goto(`${new URL(page.url()).origin}/system?tab=tunnel`)
    await page.getByText('tab=tunnel').waitFor()
    expect(await page.getByRole('tab', { name: /Tunnel|Interception/ }).count()).toBe(0)
    expect(asked.filter((path) => /tunnel|mitm/.test(path))).toEqual([])
    await close()
  })

  it('lists stored responses without their texts, shows one on request, and deletes', async () => {
    t = await createTestGateway({ env: { RESPONSES_STATE: 'true' } })
    await t.post('/api/providers', { provider: 'echo', label: 'main' })
    for (const input of ['first canary', 'second canary']) {
      const answer = await t.post('/v1/responses', { model: 'echo/echo-1', input, store: true })
      expect(answer.status, await answer.text()).toBe(200)
    }
    const { page, close } = await opened(t, '/system?tab=responses')
    const rows = page.getByRole('row', { name: /response/ })
    await expect.poll(() => rows.count()).toBe(2)
    expect(await page.content()).not.toContain('canary')
    await rows.first().click()
    await expectAccessible(page, 'a stored response')
    await page.getByRole('button', { name: 'Show the texts' }).click()
    await page.locator('pre', { hasText: 'second canary' }).waitFor()
    expect(page.url()).not.toContain('canary')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByLabel(/Number of a key/).fill('7')
    await page.getByText('Nothing is stored').waitFor()
    await page.getByLabel(/Number of a key/).fill('')
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('Nothing is stored').waitFor()
    await close()
  })
})

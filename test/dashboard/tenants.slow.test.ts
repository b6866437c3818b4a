// Accounts in the dashboard, in a real browser: sign-up, letters, members, organizations, and the identity provider.
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { CLIENT } from '../plugins/oidc/fake-issuer.ts'
import { realProvider } from '../plugins/oidc/real-provider.ts'
import { type RecordingLog, recordingLog } from '../support/recording-log.ts'
import { violations } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'

const PASSWORD = 'correct horse battery staple'
/**
 * Calls without a session are refused, and the browser logs that. Links of letters, and the way back from the identity provider, have a token
 * that the page takes from the address; until that way is done, the tab remembers that it began it, and for which invitation.
 */
const REFUSED = /status of 40[0139]|in the address \/(?:verify|reset|keys#token)|sessionStorage (?:invitation|identity-provider)/

async function inspect(page: Page, name: string): Promise<void> {
  expect(await violations(page), name).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name}: width`).toBe(true)
}

/** Chooses another organization. The page loads again after the server has answered. */
async function switched(page: Page, name: string): Promise<void> {
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name }).click()
  await loaded
}

describe.skipIf(BROWSER === null)('accounts in the dashboard (needs chromium)', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })

  async function tenants(env: Record<string, string> = {}): Promise<{ t: TestGateway; origin: string; log: RecordingLog }> {
    const log = recordingLog()
    const t = await createTestGateway({ env: { MULTI_TENANT: 'true', ...env }, ports: { log } })
    open.push(t)
    return { t, origin: (await t.listen()).url, log }
  }

  /** The path of the last letter's link. */
  async function letter(log: RecordingLog, kind: string): Promise<string> {
    let link: string | undefined
    await vi.waitFor(() => {
      const found = log.lines.filter(
        ({ message, fields }) => message === 'mail.logged' && (fields as { kind: string }).kind === kind,
      )
      link = (found.at(-1)?.fields as { link?: string } | undefined)?.link
      expect(link).toBeDefined()
    }, 5000)
    const { pathname, search, hash } = new URL(link as string)
    return pathname + search + hash
  }

  async function signUp(page: Page, email: string, organization: string): Promise<void> {
    await page.getByRole('button', { name: 'Create an account' }).click()
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Organization').fill(organization)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.locator('.who').waitFor()
  }

  async function logIn(page: Page, email: string, password: string): Promise<void> {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  it.each([360, 1280])('people sign up, forget their password and sign in again, at %i px', async (width) => {
    const { origin, log } = await tenants()
    const { page, close } = await openPage(origin, '/', { width, expected: REFUSED })
    await page.getByLabel('E-mail address').waitFor()
    await inspect(page, 'login')
    await page.getByRole('button', { name: 'Create an account' }).click()
    await inspect(page, 'sign-up')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signUp(page, 'ada@example.com', 'Analytical Engines')
    await page.goto(origin + (await letter(log, 'verify')))
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('The address is confirmed.').waitFor()
    expect(page.url()).toBe(`${origin}/`)
    await inspect(page, 'a confirmed address')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Forgot the password?' }).click()
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Send a link' }).click()
    await page.getByText('a letter with a link is on its way').waitFor()
    await page.goto(origin + (await letter(log, 'reset')))
    await page.locator('input[autocomplete=new-password]').waitFor()
    expect(page.url()).toBe(`${origin}/`)
    await inspect(page, 'a new password')
    await page.locator('input[autocomplete=new-password]').fill('short')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByText('must have at least 8 characters').waitFor()
    await page.locator('input[autocomplete=new-password]').fill('a new password of ada')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByText('every session has ended').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await logIn(page, 'ada@example.com', PASSWORD)
    await page.getByText('The e-mail address or the password is wrong.').waitFor()
    await logIn(page, 'ada@example.com', 'a new password of ada')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await close()
  })

  it('an admin invites a person, who joins, switches organizations, gets another role, and is removed', async () => {
    const { origin, log } = await tenants()
    const ada = await openPage(origin, '/', { expected: REFUSED })
    await signUp(ada.page, 'ada@example.com', 'Engines')
    await ada.page.goto(`${origin}/system?tab=members`)
    await ada.page.getByRole('button', { name: 'Invite' }).click()
    await ada.page.getByLabel('E-mail address').fill('bob@example.com')
    await ada.page.getByRole('button', { name: 'Send the invitation' }).click()
    await ada.page.getByRole('table', { name: 'Invitations' }).getByText('bob@example.com').waitFor()
    await inspect(ada.page, 'members')

    const bob = await openPage(origin, await letter(log, 'invitation'), { expected: REFUSED })
    expect(bob.page.url()).toBe(`${origin}/`)
    await bob.page.getByText('You are invited.').waitFor()
    await signUp(bob.page, 'bob@example.com', 'Bobs')
    await inspect(bob.page, 'an invitation')
    await bob.page.getByRole('button', { name: 'Accept the invitation' }).click()
    await bob.page
      .getByRole('button', { name: /Who am I: bob/ })
      .or(bob.page.getByLabel(/Who am I: bob/))
      .first()
      .waitFor()
    await bob.page.getByLabel(/Who am I: bob/).click()
    await bob.page.getByText('Engines').first().waitFor()
    await bob.page.getByText('May look', { exact: true }).waitFor()
    await inspect(bob.page, 'the organizations')
    await switched(bob.page, 'Bobs')
    await bob.page.getByLabel(/Who am I: bob/).click()
    await bob.page.getByText('Owns the organization').waitFor()
    await switched(bob.page, 'Engines')
    await bob.page.goto(`${origin}/system?tab=members`)
    await bob.page.getByRole('table', { name: 'Members' }).getByText('ada@example.com').waitFor()
    expect(await bob.page.getByRole('button', { name: 'Invite' }).count()).toBe(0)

    await ada.page.reload()
    await ada.page.getByLabel('Role of bob@example.com').selectOption('admin')
    await bob.page.reload()
    await bob.page.getByRole('button', { name: 'Invite' }).waitFor()
    ada.page.on('dialog', (dialog) => void dialog.accept())
    await ada.page.getByRole('button', { name: 'Remove bob@example.com' }).click()
    await expect.poll(() => ada.page.getByText('bob@example.com').count()).toBe(0)
    await bob.page.reload()
    await bob.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await ada.close()
    await bob.close()
  })

  it('the identity provider signs people in; the token leaves the address at once', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    vi.spyOn(console, 'info').mockImplementation(() => {})
    const provider = await realProvider()
    open.push(provider)
    const { origin } = await tenants({ IDP_CLIENT_ID: CLIENT.id, IDP_CLIENT_SECRET: CLIENT.secret, IDP_ISSUER: provider.url })
    provider.register(`${origin}/api/auth/oidc/callback`)
    const expected = new RegExp(`${REFUSED.source}|${provider.url}|fonts.googleapis.com`)
    const { page, close } = await openPage(origin, '/keys', { expected })
    // The pages of the provider ask for a font.
    await page.route('https://**', (route) => route.abort())
    const button = page.getByRole('link', { name: 'Sign in with the identity provider' })
    await button.waitFor()
    expect(await page.getByLabel('Password').count()).toBe(0)
    await inspect(page, 'the identity provider')
    await button.click()
    await page.locator('[name=login]').fill('grace')
    await page.locator('[name=password]').fill('x')
    await page.locator('[type=submit]').click()
    await page.locator('[type=submit]', { hasText: /continue/i }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(page.url()).toBe(`${origin}/keys`)
    const token = String(await page.evaluate('sessionStorage.getItem("session")'))
    expect(token).toMatch(/^eyJ/)
    await page.getByLabel(/Who am I: grace/).click()
    await page.getByText('Signed in with the identity provider.').waitFor()
    await page.goBack().catch(() => null)
    expect(page.url()).not.toContain('token')
    await close()

    const stranger = await openPage(origin, `/#token=${token}`, { expected })
    await stranger.page.getByText('A link signs you in as').waitFor()
    expect(stranger.page.url()).toBe(`${origin}/`)
    await inspect(stranger.page, 'a session from a link')
    await stranger.page.getByRole('button', { name: 'Cancel' }).click()
    expect(await stranger.page.evaluate('sessionStorage.getItem("session")')).toBeNull()
    await stranger.page.goto(`${origin}/?x#error=domain_not_allowed`)
    await stranger.page.getByText('Addresses of this domain may not sign in.').waitFor()
    await stranger.close()
  })
})

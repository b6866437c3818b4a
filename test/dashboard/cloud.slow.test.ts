// The first steps on the cloud profile, which does not offer the provider `echo`.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'

let t: TestGateway
afterEach(() => t.close())

it.skipIf(BROWSER === null)('the cloud profile proposes no provider that it does not offer (needs chromium)', async () => {
  t = await createTestGateway({ config: {} })
  const { url } = await t.listen()
  const { page, close } = await openPage(url, '/system')
  await page.route('**/healthz', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), profile: 'cloud' } })
  })
  await page.goto(`${url}/`)
  await page.getByText('Add a provider').waitFor()
  await page.getByText('· cloud').waitFor()
  expect(await page.locator('main').innerText()).not.toContain('echo')
  await page.route('**/api/providers', (route) => route.fulfill({ json: { data: [] } }))
  await page.route('**/api/models', (route) => route.fulfill({ json: { object: 'list', data: [] } }))
  await page.goto(`${url}/connections`)
  await page.getByText('Add one with the API key').waitFor()
  expect(await page.locator('main').innerText()).not.toContain('echo')
  await page.goto(`${url}/playground`)
  await expect.poll(() => page.getByLabel('Model', { exact: true }).inputValue()).toBe('')
  await page.unrouteAll({ behavior: 'wait' })
  await close()
})

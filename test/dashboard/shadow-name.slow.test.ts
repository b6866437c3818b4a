// The editor of a virtual model warns of a name that is the id of a model, with or without its provider.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'

describe.skipIf(BROWSER === null)('the name of a virtual model (needs chromium)', () => {
  it('that hides a model is said while it is typed', async () => {
    const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' } })
    await t.post('/api/providers', { provider: 'echo' })
    const { page, close } = await openPage((await t.listen()).url, '/routing/+new')
    const name = page.getByLabel('Name', { exact: true })
    for (const hiding of ['echo-1', 'echo/echo-1']) {
      await name.fill(hiding)
      await page.getByText(`The name “${hiding}” is also the id of a model (echo/echo-1)`).waitFor()
    }
    await name.fill('echo')
    await page.getByText('is also the id').waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('echo')
    await close()
    await t.close()
  })
})

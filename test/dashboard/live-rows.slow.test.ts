// Rows that the live stream brings say the same as their rows of the log.
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'

describe.skipIf(BROWSER === null)('a row that the live stream brings (needs chromium)', () => {
  let t: TestGateway
  afterEach(() => t.close())

  it('has the tries and the time to the first token, as its row of the log', async () => {
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' }, upstream: [fail(500, { delayMs: 1000 })] })
    await t.post('/api/providers', { provider: 'echo' })
    await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['chat/m', 'echo/echo-1'] })
    const { page, close } = await openPage((await t.listen()).url, '/requests')
    await page.locator('.live-mark.live').waitFor()
    await (await t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'hi' }] })).arrayBuffer()
    const row = page.getByRole('row').nth(1)
    await row.getByText('coder').waitFor()
    const cells = async () => (await row.innerText()).split('\n').slice(1)
    const arrival = async () => Date.parse((await row.locator('time').getAttribute('datetime')) ?? '')
    await expect.poll(cells).toContain('↻ 200')
    const live = { cells: await cells(), arrival: await arrival() }
    await t.gateway.committed()
    await page.reload()
    await row.getByText('coder').waitFor()
    expect(live.cells).toEqual(await cells())
    // The upstream took a second: the row has the arrival, not the end.
    expect(Math.abs(live.arrival - (await arrival()))).toBeLessThan(500)
    await close()
  })

  it('counts only upstream calls as tries, and names the connection that was passed over', async () => {
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' }, upstream: [fail(500)] })
    await t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ breaker: { failure_threshold: 1 } }),
    })
    await t.post('/api/providers', { provider: 'openai', label: 'work', api_key: 'sk-test-0000' })
    await t.post('/api/providers', { provider: 'echo', label: 'spare' })
    await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['openai/gpt-4o', 'echo/echo-1'] })
    const ask = async () => {
      const answer = await t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'hi' }] })
      await answer.arrayBuffer()
      return answer.headers.get('x-gateway-request-id') as string
    }
    await ask()
    const id = await ask()
    await t.gateway.committed()
    const { page, close } = await openPage((await t.listen()).url, `/requests/${id}`)
    await page.getByText(/skipped openai\/gpt-4o on work: circuit open/).waitFor()
    await page.getByText('1 echo/echo-1 on spare').waitFor()
    expect(await page.locator('.request-head').innerText()).toContain('✓')
    await close()
  })
})

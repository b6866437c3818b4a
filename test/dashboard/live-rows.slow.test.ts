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
  it('leaves the rows below it their nodes, and a node with the focus never shows another row', async () => {
    t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false' } })
    await t.post('/api/providers', { provider: 'echo' })
    const ask = async () =>
      (await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] })).arrayBuffer()
    for (let count = 0; count < 100; count++) await ask()
    await t.untilCommitted(100)
    const { page, close } = await openPage((await t.listen()).url, '/requests')
    await page.locator('.live-mark.live').waitFor()
    const table = page.getByRole('table', { name: 'Requests' })
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('101')
    const row = await table.getByRole('row').nth(2).elementHandle()
    const other = await table.getByRole('row').nth(3).elementHandle()
    const places = () => Promise.all([row, other].map((node) => node?.evaluate((node) => node.isConnected && node.ariaRowIndex)))
    expect(await places()).toEqual(['3', '4'])
    await (await row?.$('button'))?.focus()
    await ask()
    await expect.poll(places).toEqual(['4', '5'])
    expect(await row?.evaluate((node) => node.contains(document.activeElement))).toBe(true)
    await table.locator('.list-body').evaluate((body) => body.scrollTo(0, body.scrollHeight))
    await table.locator('[aria-rowindex="102"]').waitFor()
    const [focused, free] = await places()
    expect(focused).toBe(false)
    expect(Number(free)).toBeGreaterThan(50)
    const drawn = await table
      .locator('.list-body')
      .getByRole('row')
      .evaluateAll((rows) => rows.map((row) => Number(row.ariaRowIndex)))
    expect(drawn).toEqual(drawn.map((_, index) => (drawn[0] as number) + index))
    await close()
  })
})

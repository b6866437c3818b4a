// During an outage, the pages count requests that the gateway refused without a call to an upstream as failed. The playground does not show
// the address and the raw answer of a shared connection.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { text as answer, fail } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { BROWSER, openPage } from './browser.ts'

const EACH = 10

describe.skipIf(BROWSER === null)('an outage in the dashboard (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  beforeEach(async () => {
    t = await createTestGateway({ upstream: [fail(500)] })
    await t.post('/api/providers', { provider: 'echo', label: 'main' })
    origin = (await t.listen()).url
  })
  afterEach(() => t.close())

  it('counts requests that the open circuit refused as failed, on the overview and in the routing', async () => {
    const { key } = await makeKey(t, { label: 'app' })
    for (const [name, target] of [
      ['down', 'chat/m'],
      ['up', 'echo/echo-1'],
    ])
      await t.post('/api/virtual-models', { name, strategy: 'failover', targets: [target] })
    const messages = [{ role: 'user', content: 'hi' }]
    const statuses: number[] = []
    for (let i = 0; i < EACH; i++)
      for (const model of ['down', 'up']) {
        const answer = await t.post('/v1/chat/completions', { model, messages }, bearer(key))
        await answer.arrayBuffer()
        statuses.push(answer.status)
      }
    await t.untilCommitted(2 * EACH)
    expect(statuses.filter((status) => status >= 500)).toHaveLength(EACH)
    // Some of them reached no upstream.
    const { data } = (await (await t.fetch('/api/logs?status=5xx')).json()) as { data: unknown[] }
    expect(data).toHaveLength(EACH)
    expect(t.upstream.requests.length).toBeLessThan(EACH)

    const { page, close } = await openPage(origin, '/')
    const row = (table: string, name: string) =>
      page.getByRole('table', { name: table, exact: true }).getByRole('row', { name: new RegExp(`^${name}\\b`) })
    const cells = (table: string, name: string) => row(table, name).getByRole('cell').allInnerTexts()
    await row('Keys', 'app').waitFor()
    expect((await cells('Keys', 'app')).slice(1, 3)).toEqual([`${2 * EACH}`, '50 %'])
    await page.getByRole('link', { name: 'Routing', exact: true }).first().click()
    await row('Virtual models', 'down').waitFor()
    await expect.poll(() => cells('Virtual models', 'down')).toContain('100 %')
    expect(await cells('Virtual models', 'down')).toContain(`${EACH}`)
    expect(await cells('Virtual models', 'up')).toContain('0 %')
    await close()
  })

  it('shows neither the address nor the answer of a shared connection in the playground, and says so', async () => {
    t.upstream.script(answer('Hello.'), answer('Hello.'))
    const { page, close } = await openPage(origin, '/playground?stream=false&model=chat/m')
    const run = async (): Promise<string> => {
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('region', { name: 'You get' }).getByText('200').first().waitFor()
      return page.locator('main').innerText()
    }
    expect(await run()).toContain('Headers, without credentials')
    await page.route('**/api/playground/run', async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      expect(text).toContain('"shared":false')
      await route.fulfill({ response, body: text.replaceAll('"shared":false', '"shared":true') })
    })
    await page.reload()
    const shown = await run()
    expect(shown).toContain('To a connection of the free pool. Its address and headers are not shown.')
    expect(shown).toContain('The raw answer of a connection of the free pool is not shown.')
    expect(shown).not.toContain('Headers, without credentials')
    await page.unrouteAll({ behavior: 'wait' })
    await close()
  })
})

// Large things: the page draws few rows of many, and answers within a second.
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../adapters/testing/test-gateway.ts'
import { sql } from '../../core/db/sql.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { makeKey } from '../plugins/keys/support.ts'
import { BROWSER, openPage } from './browser.ts'

const MOST_ROWS = 60
const USABLE_MS = 1000
/** A machine that is shared stalls: the best of so many tries counts. */
const TRIES = 3

describe.skipIf(BROWSER === null)('the dashboard with much (needs chromium)', () => {
  let t: TestGateway
  let db: Db
  let origin: string
  afterEach(() => t.close())

  async function start(options: TestGatewayOptions = {}): Promise<void> {
    const reader = definePlugin({
      name: 'test-reader',
      setup(gateway) {
        db = gateway.db
      },
    })
    t = await createTestGateway({ ...options, plugins: [reader()] })
    await t.post('/api/providers', { provider: 'echo' })
    origin = (await t.listen()).url
  }
  /** Milliseconds that an act takes until its effect is painted; the best of some tries. */
  async function quickest(page: Page, act: (turn: number) => Promise<unknown>): Promise<number> {
    let best = Number.POSITIVE_INFINITY
    for (let turn = 0; turn < TRIES && best > USABLE_MS; turn++) {
      const began = performance.now()
      await act(turn)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
      best = Math.min(best, performance.now() - began)
    }
    return best
  }

  it('5,000 keys: few rows, and one opens at once', async () => {
    await start()
    await makeKey(t, { label: 'key-1' })
    const { columns } = (await columnsOf(db, 'keys')) as { columns: string[] }
    const copied = columns.filter((name) => name !== 'id')
    const unique = (name: string) => (name === 'mac' ? `${name} || n` : name === 'label' ? `'key-' || n` : name)
    await db.run({
      text: `INSERT INTO keys (${copied.join(', ')})
             SELECT ${copied.map(unique).join(', ')} FROM keys,
             (WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 5000) SELECT n FROM c)`,
      params: [],
    })
    // These rows were not made through the view, so it reads all of them again.
    await db.run(sql`UPDATE gateway_versions SET version = version + 1`)
    await makeKey(t, { label: 'last' })
    const { page, close } = await openPage(origin, '/keys')
    await page
      .getByRole('row', { name: /^key-1\b/ })
      .first()
      .waitFor()
    await page.getByText('5,001 keys').waitFor()
    // The last key: by its name, and by its address, from whichever page of the list.
    await page.getByLabel('Search keys').fill('key-4711')
    await page.getByRole('row', { name: /^key-4711\b/ }).waitFor()
    await page.getByLabel('Search keys').fill('')
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /^key-101\b/ }).waitFor()
    await page.goto(`${origin}/keys?open=5001`)
    await page.getByRole('complementary', { name: 'last' }).waitFor()
    await page.goto(`${origin}/keys`)
    await page
      .getByRole('row', { name: /^key-1\b/ })
      .first()
      .waitFor()
    expect(await page.getByRole('row').count()).toBeLessThanOrEqual(MOST_ROWS)
    const open = (turn: number) =>
      page
        .getByRole('button', { name: /^key-\d+$/ })
        .nth(turn)
        .click()
        .then(() => page.getByText('Requests per minute').first().waitFor())
    expect(await quickest(page, open)).toBeLessThan(USABLE_MS)
    await close()
  })

  it('a request with 1,000 attempts: few lines', async () => {
    await start()
    await (await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] })).text()
    await t.untilCommitted(1)
    const [{ request_id }] = ((await (await t.fetch('/api/logs')).json()) as { data: [{ request_id: string }] }).data
    const { page, close } = await openPage(origin, '/requests')
    await page.route(`**/api/logs/${request_id}`, async (route) => {
      const response = await route.fetch()
      const whole = (await response.json()) as { attempts: [Record<string, unknown>] }
      const attempts = Array.from({ length: 1000 }, (_, index) => ({
        ...whole.attempts[0],
        n: index + 1,
        provider: `p${index % 7}`,
        action: index === 999 ? 'returned' : 'next_target',
      }))
      await route.fulfill({ response, json: { ...whole, attempts } })
    })
    const open = async (turn: number) => {
      if (turn > 0) await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('row').nth(1).click()
      await page.locator('.attempt').first().waitFor()
    }
    expect(await quickest(page, open)).toBeLessThan(USABLE_MS)
    expect(await page.locator('.attempt').count()).toBeLessThanOrEqual(MOST_ROWS)
    await close()
  })

  it('a virtual model with 64 targets: typing is answered at once', async () => {
    await start()
    const targets = Array.from({ length: 64 }, (_, index) => `echo/echo-${index + 1}`)
    expect((await t.post('/api/virtual-models', { name: 'wide', strategy: 'failover', targets })).status).toBe(201)
    const { page, close } = await openPage(origin, '/routing/wide')
    await page.getByText('echo/echo-64').first().waitFor()
    const type = async (turn: number) => {
      await page.getByLabel('Description').fill(`wide ${turn}`)
      await page.getByText('differs from what is saved').waitFor()
    }
    expect(await quickest(page, type)).toBeLessThan(USABLE_MS)
    await close()
  })

  it('a body of 10 MB and a label of 1 MiB: shown in part, refused in place', async () => {
    await start({ env: { LOG_BODIES: 'true' } })
    const content = 'word '.repeat(2_000_000)
    const answer = await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content }] })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    await t.untilCommitted(1)
    const [{ request_id }] = ((await (await t.fetch('/api/logs')).json()) as { data: [{ request_id: string }] }).data
    const { page, close } = await openPage(origin, `/requests/${request_id}`, { expected: /400|413/ })
    const bodies = async (turn: number) => {
      if (turn > 0) await page.getByRole('tab', { name: 'Summary' }).click()
      await page.getByRole('tab', { name: 'Bodies' }).click()
      await page.getByText('word word').first().waitFor()
    }
    expect(await quickest(page, bodies)).toBeLessThan(USABLE_MS)
    expect(((await page.locator('main').textContent()) ?? '').length).toBeLessThan(300_000)
    await page.goto(`${origin}/keys?add=1`)
    await page.getByLabel('Label').fill('x'.repeat(1024 * 1024))
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').first().waitFor()
    expect(await quickest(page, (turn) => page.getByLabel('Label').fill(`short ${turn}`))).toBeLessThan(USABLE_MS)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('[data-secret]').waitFor()
    await close()
  })
})

async function columnsOf(db: Db, table: string): Promise<{ columns: string[] }> {
  const rows = await db.all<{ name: string }>(sql`SELECT name FROM pragma_table_info(${table})`)
  return { columns: rows.map(({ name }) => name) }
}

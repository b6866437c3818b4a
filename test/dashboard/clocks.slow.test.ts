// A reader whose computer has the wrong time: what the pages count down, what is past, and the ranges that they ask for are by the gateway's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { fail } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { makeKey } from '../plugins/keys/support.ts'
import { BROWSER, openPage, visit } from './browser.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const HOUR_MS = 3_600_000

describe.skipIf(BROWSER === null)('the dashboard on a computer with a wrong clock (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  let key: number
  let locked: number
  beforeAll(async () => {
    const clock = fakeClock(NOW)
    t = await createTestGateway({
      ports: { clock },
      upstream: [fail(429, { message: 'slower', headers: { 'retry-after': '1200' } })],
    })
    await t.post('/api/providers', { provider: 'echo' })
    const expires_at = new Date(NOW + 40 * 60_000).toISOString()
    const made = await makeKey(t, { label: 'ci', expires_at })
    key = made.id
    for (const model of ['echo/echo-1', 'chat/m']) {
      const body = { model, messages: [{ role: 'user', content: 'hi' }] }
      await (await t.post('/v1/chat/completions', body, { authorization: `Bearer ${made.key}` })).text()
    }
    await t.untilCommitted(2)
    const { data } = (await (await t.fetch('/api/providers')).json()) as { data: { id: number; provider: string }[] }
    locked = data.find(({ provider }) => provider === 'chat')?.id as number
    await clock.advance('90s')
    origin = (await t.listen()).url
  })
  afterAll(() => t.close())

  it.each([
    ['three hours behind', -3 * HOUR_MS],
    ['right', 0],
    ['three hours ahead', 3 * HOUR_MS],
    ['a year ahead', 365 * 24 * HOUR_MS],
  ])('that is %s', async (_, wrong) => {
    const { page, close } = await openPage(origin, `/keys?open=${key}`, { now: NOW + 90_000 + wrong })
    const peek = page.locator('.peek')
    await peek.getByText(/in 38 m/).waitFor()
    expect(await peek.getByText('expired').count()).toBe(0)
    await peek.getByText(/^1 m 3[01] s ago$/).waitFor()
    await visit(page, `/connections?open=${locked}`)
    await peek.getByText(/in 18 m/).waitFor()
    await peek
      .getByText(/^1 m 3[01] s ago$/)
      .first()
      .waitFor()
    await visit(page, '/requests?range=1h')
    await expect.poll(() => page.getByRole('table', { name: 'Requests' }).getByRole('row').count()).toBe(3)
    expect(await page.locator('.live-dot .age').innerText()).toMatch(/^\d+ s$/)
    await close()
  })
})

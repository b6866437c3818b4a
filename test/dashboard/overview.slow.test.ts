// The overview: an hour by minutes, the comparison with the time before, a lever with its reason, and the mark of figures of one process.
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { expectAccessible } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'

describe.skipIf(BROWSER === null)('the overview (needs chromium)', () => {
  let at: Demo
  afterEach(() => at.t.close())

  it('compares an hour with the same hour yesterday', async () => {
    at = await demo()
    const { page, close } = await openPage(at.origin, '/?window=1h')
    await page.getByText('Calls to upstreams per minute').waitFor()
    // There was nothing yesterday, so nothing is compared.
    expect(await page.getByText('Against').count()).toBe(0)
    await page.route('**/api/logs/summary?*back_days=1*', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as object
      await route.fulfill({ response, json: { ...answer, requests: 2, answered: 1, p50_ms: null } })
    })
    await page.reload()
    const line = page.locator('.comparison')
    await line.getByText('Against the same hour yesterday:').waitFor()
    expect(await line.innerText()).toContain('requests +100 %')
    expect(await line.innerText()).toContain('answered +25.0 points')
    expect(await line.innerText()).not.toContain('first token')
    await expectAccessible(page, 'the overview with a comparison')
    await close()
  })

  it('pulls a lever with a reason, and refuses one that is too long at its field', async () => {
    at = await demo()
    const { t } = at
    const { page, close } = await openPage(at.origin, '/keys', { expected: /\b400\b/ })
    const item = {
      ...{ id: 'one', kind: 'circuit_open', severity: 'critical', since: null, effect: null, link: null },
      subject: { kind: 'connection', id: '5', label: 'echo/main' },
      title: 'The circuit of echo/main is open until 2026-11-25T23:54:24.945Z.',
      levers: [{ label: 'Disable it', method: 'PUT', path: '/api/providers/5', body: { enabled: false } }],
    }
    await page.route('**/api/attention', (route) => route.fulfill({ json: { data: [item] } }))
    await page.goto(at.origin)
    const lever = page.getByRole('region', { name: /^Attention/ }).getByRole('button', { name: 'Disable it' })
    await lever.first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('x'.repeat(501))
    await dialog.getByRole('button', { name: 'Disable it' }).click()
    await dialog.locator('.field').getByRole('alert').waitFor()
    await expectAccessible(page, 'a lever')
    await dialog.getByLabel('Reason').fill('Störung?')
    await dialog.getByRole('button', { name: 'Disable it' }).click()
    await expect.poll(() => dialog.count()).toBe(0)
    const { data } = (await (await t.fetch('/api/audit?limit=1')).json()) as { data: [{ action: string; details: object }] }
    expect(data[0]).toMatchObject({ action: 'provider.update', details: { enabled: false, reason: 'Störung?' } })
    await close()
  })

  it('shows the use of limits, and marks figures that other replicas may have, too', async () => {
    at = await demo()
    const { t } = at
    const key = await makeKey(t, { label: 'limited', rate_limit_rpm: 60 })
    const body = { model: 'echo/echo-1', messages: [{ role: 'user', content: 'x' }] }
    await (await t.post('/v1/chat/completions', body, bearer(key.key))).text()
    const { page, close } = await openPage(at.origin, `/keys?open=${key.id}`)
    await page.getByRole('complementary').getByText('1 of 60').waitFor()
    const mark = page.getByText('this replica only')
    expect(await mark.count()).toBe(0)
    await page.route('**/healthz', async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as object
      await route.fulfill({ response, json: { ...answer, database: { ok: true, kind: 'postgresql', latency_ms: 1 } } })
    })
    for (const path of [
      `/keys?open=${key.id}`,
      '/requests',
      '/connections?open=1',
      '/system?tab=pipeline',
      '/system?tab=plugins&open=keys',
    ]) {
      await page.goto(at.origin + path)
      await mark.first().waitFor()
    }
    await page.getByText(/authenticate \d+/).waitFor()
    await close()
  })
})

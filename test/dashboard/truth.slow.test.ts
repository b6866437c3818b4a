// One seeded day on every page that shows money: with failovers, cached answers, callers that left, a model without a price, and a change
// of the clocks. Each figure is the one of /api/reports, to the nano-dollar, whatever the zone of the reader and of the budgets.
import type { Locator, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply, type Step } from '../../adapters/testing/script.ts'
import { type Site, site, turns, wallClock } from '../plugins/budgets/support.ts'
import { bearer } from '../plugins/keys/support.ts'
import { seeded } from '../plugins/virtual-models/support.ts'
import { BROWSER, openPage } from './browser.ts'

/** Clocks in St. John's go back in the first hours of this day: it has 25 hours there. */
const MIDNIGHT = Date.UTC(2026, 10, 1)
const REQUESTS = 48
const FULL_DAY_H = 23

interface Sums {
  totals: Record<string, number>
  data: (Record<string, number> & { key: string | null; model: string | null; provider: string | null })[]
}
interface Logged {
  request_id: string
  created_at: string
  status: number
  cost_usd: number | null
  cached: boolean
  attempts: unknown[]
}

/** Whole nano-dollars of a sum in dollars. */
const nano = (usd: number | null | undefined): bigint => BigInt(Math.round((usd ?? 0) * 1e9))
/** The exact value behind a figure of the page; 0 where it says that there is none. */
function shownNano(title: string | null): bigint {
  const found = /^\$(\d+)\.(\d{9})$/.exec(title ?? '')
  return found === null ? 0n : BigInt(found[1] as string) * 1_000_000_000n + BigInt(found[2] as string)
}
const exact = async (of: Locator): Promise<bigint> =>
  shownNano(
    await of
      .getByTitle(/^\$|not known/)
      .first()
      .getAttribute('title'),
  )
/** A figure of a panel, by its title. */
const figure = (page: Page, panel: string, term: string): Locator =>
  page
    .getByRole('region', { name: panel, exact: true })
    .locator('div', { has: page.locator('dt').getByText(term, { exact: true }) })
    .locator('dd')
    .first()

describe.skipIf(BROWSER === null)('figures of the dashboard (needs chromium)', () => {
  let s: Site
  let origin: string
  afterEach(() => s.close())

  async function start(zone: string): Promise<void> {
    const clock = wallClock(MIDNIGHT + 1_800_000)
    s = await site({ env: { DEDUP_TTL_MS: '172800000', BUDGET_TIMEZONE: zone }, ports: { clock } })
    origin = (await s.t.listen()).url
  }

  /** @returns the key that most requests use */
  async function day(): Promise<{ id: number; label: string }> {
    const random = seeded(2026)
    const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
    const [app, batch] = [await s.key({ label: 'app' }), await s.key({ label: 'batch' })]
    await s.api('POST', '/api/virtual-models', { name: 'two', strategy: 'failover', targets: ['chat/m', 'messages/m2'] })
    await s.budget({ scope: 'org', window: 'daily', hard_limit_usd: 500 })
    await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 900 })
    await s.budget({ scope: 'key', entity_id: app.id, window: 'lifetime', hard_limit_usd: 400 })
    const used = (): Step =>
      reply({ text: 'Hello.', usage: { input: 1 + Math.floor(random() * 9999), output: Math.floor(random() * 999) } })
    for (let i = 0; i < REQUESTS; i++) {
      const headers = bearer(pick(app, app, batch).key)
      const kind = pick('plain', 'plain', 'dear', 'failover', 'again', 'unpriced', 'left', 'refused', 'failed')
      const content = kind === 'again' ? 'the same' : `number ${i}`
      const body = { model: 'chat/m', messages: [{ role: 'user', content }] }
      if (kind === 'left') await leave(body, headers)
      else {
        const steps: Record<string, Step[]> = { failover: [fail(500), used()], failed: [fail(400)], refused: [] }
        const model: Record<string, string> = {
          dear: 'chat/dear',
          failover: 'two',
          unpriced: 'chat/free',
          refused: 'no-such-model',
        }
        s.t.upstream.script(...(steps[kind] ?? [used()]))
        await s.spend({ ...body, model: model[kind] ?? 'chat/m' }, headers)
      }
      s.clock.jump(FULL_DAY_H / REQUESTS)
    }
    await s.t.untilCommitted(REQUESTS)
    return { id: app.id, label: 'app' }
  }

  /** Asks for a stream and leaves in the middle of it. */
  async function leave(body: object, headers: Record<string, string>): Promise<void> {
    s.t.upstream.script(reply({ text: 'One two three four five six seven.' }, { stallAfter: 3 }))
    const settled = s.t.settled.length
    const response = await s.ask({ ...body, stream: true }, headers)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
    await s.t.untilSettled(settled + 1)
    await turns()
  }

  /** The rows of the log that the page shows, read while it is scrolled to its end. */
  async function shownRows(page: Page): Promise<Map<number, { at: string; text: string; cost: bigint }>> {
    const found = new Map<number, { at: string; text: string; cost: bigint }>()
    const table = page.getByRole('table', { name: 'Requests' })
    const total = Number(await table.getAttribute('aria-rowcount')) - 1
    for (let look = 0; found.size < total && look < 20; look++) {
      const rows = await table.getByRole('row').evaluateAll((elements) =>
        elements.map((row) => ({
          place: Number(row.getAttribute('aria-rowindex')),
          at: row.querySelector('time')?.dateTime ?? '',
          text: row.querySelector('time')?.textContent ?? '',
          title:
            [...row.querySelectorAll('[title]')]
              .map((element) => (element as HTMLElement).title)
              .find((title) => /^\$/.test(title)) ?? null,
        })),
      )
      for (const { place, at, text, title } of rows) if (at !== '') found.set(place, { at, text, cost: shownNano(title) })
      await table
        .locator('[tabindex="0"]')
        .first()
        .evaluate((body, step) => body.scrollBy(0, step), 300)
      await page.waitForFunction('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))')
    }
    return found
  }

  it.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])('are those of /api/reports, in %s', async (zone) => {
    await start(zone)
    const key = await day()
    const report = async (query: string) =>
      (await s.api<Sums>('GET', `/api/reports?window=24h&group_by=key,provider,model${query}`)).body
    const { totals, data } = await report('')
    const total = nano(totals.cost_usd)
    const by = (member: 'key' | 'model', name: string) =>
      data.filter((row) => (member === 'key' ? row.key : `${row.provider}/${row.model}`) === name)
    const cost = (rows: Sums['data']) => rows.reduce((sum, row) => sum + nano(row.cost_usd), 0n)
    const { data: logs } = (await s.api<{ data: Logged[] }>('GET', '/api/logs?limit=100')).body
    // The day has all that it is about.
    expect(logs).toHaveLength(REQUESTS)
    expect(logs.filter(({ cached }) => cached).length).toBeGreaterThan(1)
    expect(logs.filter(({ cost_usd }) => cost_usd === null).length).toBeGreaterThan(1)
    expect(logs.filter(({ status }) => status === 499).length).toBeGreaterThan(1)
    expect(totals.estimated_cost_usd).toBeGreaterThan(0)
    expect(total).toBeGreaterThan(1_000_000n)

    const { page, close } = await openPage(origin, '/', { zone, expected: /404/ })
    await figure(page, 'Spend', 'Last 24h').waitFor()
    expect(await exact(figure(page, 'Spend', 'Last 24h'))).toBe(total)
    expect(await exact(figure(page, 'Spend', 'Saved'))).toBe(nano(totals.usd_saved))
    expect(Number.parseInt(await figure(page, 'Requests', 'Requests').innerText(), 10)).toBe(REQUESTS)
    const cell = (table: string, name: string) =>
      page.getByRole('table', { name: table, exact: true }).getByRole('row', { name: new RegExp(`^${name} `) })
    for (const label of ['app', 'batch']) expect(await exact(cell('Keys', label)), label).toBe(cost(by('key', label)))
    for (const model of ['chat/m', 'chat/dear', 'messages/m2'])
      expect(await exact(cell('Models', model)), model).toBe(cost(by('model', model)))

    await page.goto(`${origin}/requests`)
    await expect.poll(() => page.getByRole('table', { name: 'Requests' }).getAttribute('aria-rowcount')).toBe(`${REQUESTS + 1}`)
    const rows = [...(await shownRows(page)).values()]
    expect(rows.map(({ at }) => at)).toEqual(logs.map(({ created_at }) => created_at))
    expect(rows.reduce((sum, row) => sum + row.cost, 0n)).toBe(total)
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hour12: false })
    for (const { at, text } of rows) expect(text, at).toContain(local.format(new Date(at)))

    await page.goto(`${origin}/spend`)
    await figure(page, 'Spend', 'Cost').waitFor()
    expect(await exact(figure(page, 'Spend', 'Cost'))).toBe(total)
    expect(await exact(figure(page, 'Spend', 'Charged'))).toBe(nano(totals.charge_usd))
    expect(await exact(cell('Model', 'chat/dear'))).toBe(cost(by('model', 'chat/dear')))
    await page.goto(`${origin}/spend?tab=reports`)
    const lines = page.getByRole('table', { name: 'Report' }).getByRole('row')
    await lines.nth(1).waitFor()
    const titles = await lines
      .getByTitle(/^\$/)
      .evaluateAll((elements) => elements.map((element) => element.getAttribute('title')))
    expect(titles.reduce((sum, title) => sum + shownNano(title), 0n)).toBe(total)

    await page.goto(`${origin}/keys?open=${key.id}`)
    const answered = by('key', key.label).reduce((sum, row) => sum + (row.requests as number), 0)
    const tightest = page.locator('.peek div', { has: page.locator('dt', { hasText: 'Tightest budget' }) }).last()
    await tightest.getByText(' left of ').waitFor()
    await expect.poll(() => cell('Keys', 'app').innerText()).toMatch(new RegExp(`\\s${answered}(\\s|$)`))
    expect(await exact(tightest)).toBe(nano(400) - cost(by('key', 'app')))

    await page.goto(`${origin}/spend?tab=budgets`)
    const budgets = (
      await s.api<{ data: { scope: string; window: string; window_start: string; window_end: string }[] }>('GET', '/api/budgets')
    ).body.data
    const today = budgets.find(({ window }) => window === 'daily') as (typeof budgets)[number]
    // The day of the reader: 25 hours where the clocks went back in it.
    const hours = (Date.parse(today.window_end) - Date.parse(today.window_start)) / 3_600_000
    const inside = logs.filter(({ created_at }) => created_at >= today.window_start && created_at < today.window_end)
    expect([hours, inside.length > 0]).toEqual([zone === 'America/St_Johns' ? 25 : 24, true])
    const line = (name: RegExp) => page.getByRole('table', { name: 'Budgets' }).getByRole('row', { name })
    await line(/daily/).waitFor()
    expect(await exact(line(/daily/))).toBe(inside.reduce((sum, { cost_usd }) => sum + nano(cost_usd), 0n))
    expect(await exact(line(/organization.*lifetime/))).toBe(total)
    expect(await exact(line(/key app.*lifetime/))).toBe(cost(by('key', 'app')))
    await close()
  })

  it('draws the bars of a request where its attempts are, to the pixel', async () => {
    await start('UTC')
    const slow = (ms: number) => ({ hold: () => s.clock.advance(ms) })
    await s.api('POST', '/api/virtual-models', {
      name: 'three',
      strategy: 'failover',
      targets: ['chat/m', 'responses/m', 'messages/m'],
    })
    s.t.upstream.script(fail(500, slow(130)), fail(503, slow(420)), reply({ text: 'Hello.' }, slow(333)))
    expect(await s.spend({ model: 'three' })).toBe(200)
    await s.t.untilCommitted(1)
    const [{ request_id }] = (await s.api<{ data: [Logged] }>('GET', '/api/logs')).body.data
    const { body } = await s.api<{
      created_at: string
      latency_ms: number
      attempts: { started_at: string; latency_ms: number }[]
    }>('GET', `/api/logs/${request_id}`)
    const { page, close } = await openPage(origin, `/requests/${request_id}`)
    await page.getByText('returned').waitFor()
    const bars = await page
      .locator('.attempt', { hasNotText: /^gateway/ })
      .locator('.track')
      .evaluateAll((pictures) =>
        pictures.map((picture) => {
          const whole = picture.getBoundingClientRect()
          const parts = [...picture.querySelectorAll('.span')].map((part) => part.getBoundingClientRect())
          return {
            whole: whole.width,
            from: Math.min(...parts.map(({ left }) => left)) - whole.left,
            to: Math.max(...parts.map(({ right }) => right)) - whole.left,
          }
        }),
      )
    expect(body.attempts.map(({ latency_ms }) => latency_ms > 100)).toEqual([true, true, true])
    expect(bars).toHaveLength(3)
    for (const [index, { started_at, latency_ms }] of body.attempts.entries()) {
      const bar = bars[index] as (typeof bars)[number]
      const from = ((Date.parse(started_at) - Date.parse(body.created_at)) / body.latency_ms) * bar.whole
      expect(Math.abs(bar.from - from), `start of ${index}`).toBeLessThanOrEqual(1)
      expect(Math.abs(bar.to - (from + (latency_ms / body.latency_ms) * bar.whole)), `end of ${index}`).toBeLessThanOrEqual(1)
    }
    await close()
  })
})

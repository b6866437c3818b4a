// How fast the dashboard is. Counts of rows and connections are checked, and the CPU time of a frame while scrolling as the median of
// windows. Other times depend on the machine and are printed.
import type { CDPSession, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { sql } from '../../core/db/sql.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { BROWSER, openPage } from './browser.ts'

const MOST_ROWS = 60
const ROWS = 10_000
const EVENTS_A_SECOND = 500
const SECONDS = 5
const [WINDOWS, WINDOW_FRAMES] = [9, 30]
/** CPU time of the page's main thread, while each frame shows other rows. The goal is 20 ms; others on the same core may double it. */
const MOST_FRAME_MS = 40

const print = (what: string, figures: Record<string, string | number>): void =>
  console.info(
    `dashboard: ${what}: ${Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  )
const p95 = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

describe.skipIf(BROWSER === null)('speed of the dashboard (needs chromium)', () => {
  let t: TestGateway
  let db: Db
  let origin: string
  beforeEach(async () => {
    const reader = definePlugin({
      name: 'test-reader',
      setup(gateway) {
        db = gateway.db
      },
    })
    t = await createTestGateway({ plugins: [reader()], env: { LIVE_EVENT_BUFFER: '10000' } })
    await t.post('/api/providers', { provider: 'echo' })
    origin = (await t.listen()).url
    await (await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] })).text()
    await t.untilCommitted(1)
  })
  afterEach(() => t.close())

  /** Copies the one row of the log until there are so many. */
  async function fillLog(rows: number): Promise<void> {
    // The log writes its rows before it answers.
    expect(((await (await t.fetch('/api/logs')).json()) as { data: unknown[] }).data).toHaveLength(1)
    const columns = await db.all<{ name: string }>(sql`SELECT name FROM pragma_table_info('request_log')`)
    const names = columns.map(({ name }) => name).filter((name) => name !== 'id')
    const copied = names.map((name) =>
      name === 'request_id' ? "request_id || '-' || n" : name === 'created_at' ? 'created_at - n' : name,
    )
    await db.run({
      text: `INSERT INTO request_log (${names.join(', ')}) SELECT ${copied.join(', ')} FROM request_log,
             (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows - 1}) SELECT n FROM c)`,
      params: [],
    })
  }
  const drawn = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row').count()

  it('draws the first rows soon', async () => {
    await fillLog(200)
    const { page, close } = await openPage(origin, '/keys')
    const times: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const began = performance.now()
      await page.goto(`${origin}/requests`, { waitUntil: 'commit' })
      await page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).waitFor()
      times.push(performance.now() - began)
    }
    print('first rows, goal 400 ms', { best: `${Math.round(Math.min(...times))} ms` })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    const slow: number[] = []
    for (let turn = 0; turn < 2; turn++) {
      await page.goto(`${origin}/requests`, { waitUntil: 'commit' })
      await page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).waitFor()
      slow.push(Number(await page.evaluate('performance.now()')))
    }
    // The rest would take four times as long as well.
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    print('first rows on a quarter of the CPU, goal 900 ms', { best: `${Math.round(Math.min(...slow))} ms` })
    expect(await drawn(page)).toBeLessThanOrEqual(MOST_ROWS)
    await close()
  })

  it('makes no format of numbers or times before a row needs it', async () => {
    const { page, close } = await openPage(origin, '/keys')
    await page.addInitScript(`window.formats = 0
      for (const name of ['DateTimeFormat', 'NumberFormat'])
        Intl[name] = new Proxy(Intl[name], { construct: (made, given) => (window.formats++, Reflect.construct(made, given)) })`)
    await page.goto(`${origin}/requests`)
    await page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).waitFor()
    const made = Number(await page.evaluate('window.formats'))
    expect(made).toBeGreaterThan(0)
    expect(made).toBeLessThanOrEqual(6)
    await close()
  })

  it('has few rows in the document while 10,000 are scrolled', async () => {
    await fillLog(ROWS)
    const { page, close } = await openPage(origin, '/requests?mode=paused')
    const table = page.getByRole('table', { name: 'Requests' })
    const listed = async () => Number(await table.getAttribute('aria-rowcount')) - 1
    const body = table.locator('[tabindex="0"]').first()
    await expect.poll(listed).toBeGreaterThan(50)
    // The end of the list reads the next page of the log.
    const most = Number(
      await body.evaluate(async (element, rows) => {
        const table = element.closest('[role="table"]') as HTMLElement
        let most = 0
        for (let listed = 0; listed < rows; ) {
          element.scrollTo(0, element.scrollHeight)
          await new Promise(requestAnimationFrame)
          most = Math.max(most, table.querySelectorAll('[role="row"]').length)
          listed = Number(table.getAttribute('aria-rowcount')) - 1
        }
        return most
      }, ROWS),
    )
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const [frames, cpu]: [number[], number[]] = [[], []]
    for (let window = 0; window < WINDOWS; window++) {
      const before = await threadSeconds(devtools)
      frames.push(p95((await body.evaluate(scrolled, WINDOW_FRAMES)) as number[]))
      cpu.push((((await threadSeconds(devtools)) - before) * 1000) / WINDOW_FRAMES)
    }
    print('10,000 rows, goal 20 ms', {
      'frame p95': `${median(frames).toFixed(1)} ms`,
      'CPU of a frame': `${median(cpu).toFixed(1)} ms`,
      'row nodes': most,
    })
    // On a busy machine a frame waits for other processes, so the page's own time has the bound.
    expect(median(cpu)).toBeGreaterThan(0)
    expect(median(cpu)).toBeLessThanOrEqual(MOST_FRAME_MS)
    expect(Math.max(most, await drawn(page))).toBeLessThanOrEqual(MOST_ROWS)
    await close()
  })

  it('keeps few rows and a small heap under many events', async () => {
    const { page, close } = await openPage(origin, '/requests')
    await page.getByText('● live').waitFor()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const send = async (count: number): Promise<void> => {
      const body = { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
      await Promise.all(Array.from({ length: count }, async () => (await t.post('/v1/chat/completions', body)).arrayBuffer()))
    }
    await send(100)
    await page.evaluate(countPosts)
    const before = await measured(devtools)
    let sent = 0
    for (let second = 0; second < SECONDS; second++) {
      const began = performance.now()
      for (; sent < EVENTS_A_SECOND * (second + 1); sent += 50) await send(50)
      await page.evaluate(
        (rest) => new Promise((done) => setTimeout(done, Math.max(0, rest))),
        1000 - (performance.now() - began),
      )
    }
    // So many events a second are thinned, and the page says so.
    await page
      .getByText(/The list shows 1 of \d+/)
      .first()
      .waitFor()
    const shown = async () => Number(await page.getByRole('table', { name: 'Requests' }).getAttribute('aria-rowcount'))
    expect(await shown()).toBeGreaterThan(100)
    expect(await shown()).toBeLessThanOrEqual(t.settled.length + 1)
    const after = await measured(devtools)
    const seconds = after.at - before.at
    print('events, goal 30 % and 10 MB', {
      'a second': Math.round((t.settled.length - 101) / seconds),
      busy: `${Math.round(((after.busy - before.busy) / seconds) * 100)} %`,
      'heap growth': `${((after.heap - before.heap) / 1e6).toFixed(1)} MB`,
    })
    expect(await drawn(page)).toBeLessThanOrEqual(MOST_ROWS)
    expect(after.heap - before.heap).toBeLessThan(30e6)
    // The reading tab posts at most twenty batches a second to the other tabs.
    const posts = Number(await page.evaluate('window.posts'))
    expect(posts).toBeGreaterThan(0)
    expect(posts / seconds).toBeLessThanOrEqual(21)
    await close()
  })

  it('draws the list ten times a second, however steadily requests end', async () => {
    const { page, close } = await openPage(origin, '/requests')
    await page.getByText('● live').waitFor()
    await page.getByRole('table', { name: 'Requests' }).waitFor()
    const told = {
      ...{ occurred_at: '2027-01-31T12:00:00.000Z', provider: 'echo', model: 'echo-1', requested_model: 'echo/echo-1' },
      ...{
        api_key_label: null,
        virtual_model: null,
        status: 200,
        latency_ms: 1,
        ttft_ms: 1,
        attempts: 1,
        cached: false,
        stream: false,
        source: 'api',
      },
      ...{ tokens: { prompt: 1, completion: 1, total: 2 }, cost: { cost_usd: 0, charge_usd: 0 } },
    }
    const draws = await page.evaluate(drawsUnder, told)
    expect(draws).toBeGreaterThan(1)
    expect(draws).toBeLessThanOrEqual(11)
    await close()
  })

  it('holds one stream for three tabs on Live', async () => {
    const { page, tab, close } = await openPage(origin, '/requests')
    const tabs = [page, await tab('/requests'), await tab('/requests')]
    for (const one of tabs) await one.getByText('● live').waitFor()
    const metrics = await (await t.fetch('/metrics')).text()
    const [, count] = /^gateway_\w*(?:subscribers|listeners)\w*(?:\{[^}]*\})? (\d+)$/m.exec(metrics) ?? []
    expect(
      count,
      metrics
        .split('\n')
        .filter((line) => /live|subscri/.test(line))
        .join('\n'),
    ).toBe('1')
    await close()
  })
})

/** Runs in the page. Counts the posts to other tabs. */
function countPosts(): void {
  const counted = window as unknown as { posts: number }
  counted.posts = 0
  const post = BroadcastChannel.prototype.postMessage
  BroadcastChannel.prototype.postMessage = function (message) {
    counted.posts++
    post.call(this, message)
  }
}

/** Runs in the page, as the tab that reads. Posts an event each five milliseconds. Returns how often the list was drawn a second. */
async function drawsUnder(event: object): Promise<number> {
  let draws = 0
  new MutationObserver(() => draws++).observe(document.querySelector('.list-space') as Element, { childList: true })
  const channel = new BroadcastChannel('hookgate-live ')
  const began = performance.now()
  for (let number = 0; performance.now() - began < 3000; number++) {
    const id = `${number}`
    channel.postMessage({ messages: [{ kind: 'request', id, event: { ...event, request_id: `req_${number}` } }] })
    await new Promise((done) => setTimeout(done, 5))
  }
  channel.close()
  return (draws / (performance.now() - began)) * 1000
}

/** Runs in the page: scrolls the whole list and returns the time of each frame, ms. */
async function scrolled(element: HTMLElement | SVGElement, count: number): Promise<number[]> {
  const frames: number[] = []
  let last = performance.now()
  for (let frame = 0; frame < count; frame++) {
    element.scrollTo(0, (element.scrollHeight / count) * frame)
    await new Promise(requestAnimationFrame)
    frames.push(performance.now() - last)
    last = performance.now()
  }
  return frames
}

/** CPU time of the page's main thread so far. */
async function threadSeconds(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'ThreadTime')?.value ?? 0
}

/** After a garbage collection. */
async function measured(devtools: CDPSession): Promise<{ at: number; busy: number; heap: number }> {
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
  return { at: of('Timestamp'), busy: of('TaskDuration'), heap: of('JSHeapUsedSize') }
}

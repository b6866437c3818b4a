// The page Requests: its list, its filters, and the attempts of one request.
import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BROWSER, openPage } from './browser.ts'
import { type Demo, demo } from './demo.ts'

describe.skipIf(BROWSER === null)('the page Requests (needs chromium)', () => {
  let world: Demo
  beforeEach(async () => {
    world = await demo()
  })
  afterEach(() => world.t.close())

  const newest = async () =>
    ((await (await fetch(`${world.origin}/api/logs?status=2xx`)).json()) as { data: { request_id: string }[] }).data[0]
      ?.request_id as string

  it('adds values of the log to the filter and takes them out again', async () => {
    const { page, close } = await openPage(world.origin, '/requests')
    const rows = page.getByRole('row')
    await expect.poll(() => rows.count()).toBe(5)
    await page.getByText('Filter by').click()
    await page.getByRole('checkbox', { name: 'chat', exact: true }).check()
    await expect.poll(() => rows.count()).toBe(2)
    expect(new URL(page.url()).searchParams.get('filter')).toBe('provider:chat')
    await page.getByRole('checkbox', { name: 'chat', exact: true }).uncheck()
    await expect.poll(() => rows.count()).toBe(5)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('checkbox', { name: 'chat', exact: true }).isVisible()).toBe(false)
    await page.getByLabel('Filter', { exact: true }).fill('model:gpt*')
    await page.getByText('the log compares whole names').waitFor()
    await close()
  })

  it('shows the whole hint of the filter on a narrow screen', async () => {
    const { page, close } = await openPage(world.origin, '/requests', { width: 360 })
    const [hint, room] = await page.getByLabel('Filter', { exact: true }).evaluate((field: HTMLInputElement) => {
      const style = getComputedStyle(field)
      const pen = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D
      pen.font = style.font
      const inside = field.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight)
      return [pen.measureText(field.placeholder).width, inside] as const
    })
    expect(hint).toBeGreaterThan(0)
    expect(hint).toBeLessThanOrEqual(room)
    await close()
  })

  it('keeps the columns in the address and in this browser', async () => {
    const { page, close } = await openPage(world.origin, '/requests')
    await page.getByText('Columns ▾').click()
    await page.getByRole('checkbox', { name: 'Error' }).check()
    await page.getByRole('checkbox', { name: 'Tries' }).uncheck()
    const heads = page.getByRole('columnheader')
    await expect.poll(() => heads.allInnerTexts()).toContain('Error')
    expect(await heads.allInnerTexts()).not.toContain('Tries')
    await page.getByRole('cell', { name: 'model_not_found' }).waitFor()
    expect(new URL(page.url()).searchParams.get('columns')).toContain('error')
    await page.goto(`${world.origin}/requests`)
    await expect.poll(() => heads.allInnerTexts()).toContain('Error')
    await page.goto(`${world.origin}/requests?columns=time,model`)
    await expect.poll(() => heads.allInnerTexts()).toEqual(['Time', 'Asked → served'])
    await close()
  })

  it('shows only the hours over which the mouse was dragged', async () => {
    const { page, close } = await openPage(world.origin, '/requests?range=24h')
    const chart = page.getByRole('img', { name: /Calls to upstreams per hour/ })
    const box = await chart.boundingBox()
    if (box === null) throw new Error('no chart')
    const drag = async (from: number, to: number): Promise<void> => {
      await page.mouse.move(box.x + box.width * from, box.y + 20)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * to, box.y + 20, { steps: 4 })
      await page.mouse.up()
    }
    await drag(0.1, 0.4)
    await page.getByText('No request fits this filter').waitFor()
    const asked = new URL(page.url()).searchParams
    expect(Date.parse(asked.get('until') as string)).toBeGreaterThan(Date.parse(asked.get('since') as string))
    await page.getByText('history', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByLabel('Histogram').getByRole('button', { name: 'Show as table' }).click()
    await page.getByTitle('Show only this hour').first().click()
    await expect.poll(() => page.getByRole('table', { name: 'Requests', exact: true }).getByRole('row').count()).toBe(5)
    await close()
  })

  it('saves what the filter finds, and no cell is a formula', async () => {
    await world.t.post('/v1/chat/completions', { model: '=1+1', messages: [{ role: 'user', content: 'x' }] })
    await world.t.untilCommitted(5)
    const { page, close } = await openPage(world.origin, '/requests?filter=status:4xx')
    await expect.poll(() => page.getByRole('row').count()).toBe(3)
    const saved = async (kind: string): Promise<string> => {
      const file = page.waitForEvent('download')
      await page.getByRole('button', { name: kind }).click()
      return readFile(await (await file).path(), 'utf8')
    }
    await page.getByText('Export ▾').click()
    const lines = (await saved('JSON lines')).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([400, 400])
    const table = await saved('CSV')
    expect(table).toContain("'=1+1")
    expect(table).not.toMatch(/(?:^|,)=1/m)
    await close()
  })

  it('goes to the neighbours with the keyboard, in the list and on a page of its own', async () => {
    const { page, close } = await openPage(world.origin, '/requests')
    await expect.poll(() => page.getByRole('row').count()).toBe(5)
    const opened = (): string | null => new URL(page.url()).searchParams.get('open')
    await page.keyboard.press(']')
    await expect.poll(opened).not.toBeNull()
    const first = opened()
    await page.keyboard.press(']')
    await expect.poll(opened).not.toBe(first)
    const second = opened()
    expect(second).not.toBeNull()
    await page.keyboard.press('o')
    await expect.poll(() => page.url()).toBe(`${world.origin}/requests/${second}`)
    await page.keyboard.press('[')
    await expect.poll(() => page.url()).toBe(`${world.origin}/requests/${first}`)
    await close()
  })

  it('leaves Space to the element that has the focus, and pauses with it elsewhere', async () => {
    const { page, close } = await openPage(world.origin, '/requests')
    await page.locator('.live-mark.live').waitFor()
    await page.locator('summary', { hasText: 'Filter by' }).focus()
    await page.keyboard.press('Space')
    await page.getByRole('checkbox', { name: '5xx' }).waitFor()
    expect(new URL(page.url()).searchParams.get('mode')).toBeNull()
    await page.keyboard.press('Escape')
    await page.locator('.list-body').focus()
    await page.keyboard.press('Space')
    await expect.poll(() => new URL(page.url()).searchParams.get('mode')).toBe('paused')
    await close()
  })

  it('copies a link with absolute times', async () => {
    const { page, close } = await openPage(world.origin, '/requests?range=1h')
    await page.evaluate(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } } })',
    )
    await page.getByRole('row').nth(1).waitFor()
    await page.keyboard.press('y')
    expect(await page.evaluate('window.copied')).toBe(`${world.origin}/requests?range=1h`)
    await page.keyboard.press('Shift+Y')
    const copied = new URL(String(await page.evaluate('window.copied'))).searchParams
    expect(copied.get('range')).toBeNull()
    expect(Date.parse(copied.get('until') as string) - Date.parse(copied.get('since') as string)).toBeGreaterThanOrEqual(
      3_600_000,
    )
    await close()
  })

  it('draws the attempts where they were, to the pixel, and the same as a table', async () => {
    const id = await newest()
    const { page, close } = await openPage(world.origin, '/')
    const real = await (await fetch(`${world.origin}/api/logs/${id}`)).json()
    const start = Date.parse('2027-01-31T12:00:00.000Z')
    const made = (n: number, after: number, changes: object) => ({
      ...real.attempts[0],
      n,
      started_at: new Date(start + after).toISOString(),
      provider: 'openai',
      model: 'gpt-4o',
      ...changes,
    })
    const busy = {
      status: 503,
      action: 'next_target',
      cause: 'status',
      error: { code: 'overloaded', message: 'busy' },
      latency_ms: 300,
    }
    const attempts = [
      made(1, 0, { ...busy, status: null, skipped: { reason: 'circuit_open', until: null }, error: null }),
      made(2, 100, { ...busy, action: 'retried', waited_ms: 200 }),
      made(3, 600, busy),
      made(4, 1000, { provider: 'azure', ttft_ms: 400, latency_ms: 400, waited_ms: null, action: 'returned' }),
    ]
    await page.route(`**/api/logs/${id}`, (route) =>
      route.fulfill({ json: { ...real, created_at: new Date(start).toISOString(), latency_ms: 2000, attempts } }),
    )
    await page.goto(`${world.origin}/requests/${id}`)
    await page.getByText(/skipped openai.gpt-4o( on \w+)?: circuit open/).waitFor()
    await page.getByText('openai/gpt-4o ×2').waitFor()
    await page.getByText('overloaded → next target').waitFor()
    await page.getByText('first content after 400 ms, returned').waitFor()
    const bars = (await page.evaluate(`[...document.querySelectorAll('.track')].map((track) => {
      const whole = track.getBoundingClientRect()
      return [...track.querySelectorAll('.span, .tick')].map((part) => {
        const { left, width } = part.getBoundingClientRect()
        return [part.className, ((left - whole.left) / whole.width) * 2000, (width / whole.width) * 2000]
      })
    })`)) as [string, number, number][][]
    const near = (parts: readonly [string, number, number][]) =>
      parts.map(([name, from, long]) => [name, Math.round(from / 10) * 10, name === 'tick' ? 0 : Math.round(long / 10) * 10])
    expect(bars.map(near)).toEqual([
      [
        ['span gateway', 0, 100],
        ['span gateway', 900, 100],
      ],
      [
        ['span open', 100, 300],
        ['span waited', 400, 200],
        ['span open', 600, 300],
      ],
      [
        ['span open', 1000, 400],
        ['span arrives', 1400, 600],
        ['tick', 1400, 0],
      ],
    ])
    await page.keyboard.press('t')
    await expect.poll(() => page.getByRole('table', { name: 'Attempts' }).getByRole('row').count()).toBe(4)
    expect(new URL(page.url()).searchParams.get('view')).toBe('table')
    await close()
  })

  it('says which setting keeps bodies out, and switches it on', async () => {
    await world.t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'request_log.bodies': false }),
    })
    await world.t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'unseen' }] })
    await world.t.untilCommitted(5)
    const { page, close } = await openPage(world.origin, `/requests/${await newest()}?tab=bodies`)
    await page.getByText('is off in the settings').waitFor()
    await page.getByRole('button', { name: /Store bodies from now on/ }).click()
    await page.getByText('they were off when it came').waitFor()
    await close()
  })
})

// The end of batches that take too long, and of their data: on a clock whose days are short.
import { afterEach, expect, it } from 'vitest'
import type { Step } from '../../adapters/testing/index.ts'
import { sql } from '../../core/db/sql.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { type Vendors, vendors } from './support.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let v: Vendors
afterEach(() => v.close())

/** Jobs that run each hour run five times a second; `later` moves the date. */
function shortDays(): Clock & { later(ms: number): void } {
  let ahead = 0
  return {
    ...systemClock,
    now: () => Date.now() + ahead,
    timer: (ms, fn, background) => systemClock.timer(ms > HOUR_MS / 2 ? 200 : ms, fn, background),
    later: (ms) => {
      ahead += ms
    },
  }
}

interface Batch {
  id: string
  status: string
  expired_at: number | null
  expires_at: number
  request_counts: object
  results: { custom_id: string; response: { status_code: number } }[]
}

it('after 24 hours a batch is expired: results stay, open items have none, and a late answer changes nothing', async () => {
  const clock = shortDays()
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const answer: Step = { kind: 'reply', reply: { text: 'done' } }
  const late: Step = { kind: 'reply', reply: { text: 'late' }, hold: () => gate }
  v = await vendors(['openai'], { upstream: [answer, answer, answer, late], ports: { clock } })
  const requests = Array.from({ length: 20 }, (_, at) => ({
    custom_id: `item-${at}`,
    url: '/v1/chat/completions',
    body: { model: 'openai/m', messages: [{ role: 'user', content: 'hi' }] },
  }))
  const { id, expires_at } = (await (await v.t.post('/v1/batches', { requests })).json()) as Batch
  const read = async () => (await (await v.t.fetch(`/v1/batches/${id}`)).json()) as Batch
  // Three items are done, four hang.
  await expect.poll(() => v.vendor.requests.length, { timeout: 10_000 }).toBe(7)
  expect((await read()).status).toBe('in_progress')

  clock.later(DAY_MS)
  await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe('expired')
  const expired = await read()
  expect(expired.request_counts).toEqual({ total: 20, completed: 3, failed: 0 })
  expect(expired.results.map(({ response }) => response.status_code)).toEqual([200, 200, 200])
  expect(expired.expired_at).toBeGreaterThanOrEqual(expires_at)

  open()
  await v.t.untilSettled(7)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await read()).toEqual(expired)
  expect(v.vendor.requests).toHaveLength(7)

  clock.later(6 * DAY_MS)
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect((await v.t.fetch(`/v1/batches/${id}`)).status).toBe(200)
  clock.later(1.1 * DAY_MS)
  await expect.poll(async () => (await v.t.fetch(`/v1/batches/${id}`)).status, { timeout: 10_000 }).toBe(404)
  const rows = await v.t.gateway.db?.all(sql`SELECT batch_id FROM batches_items UNION ALL SELECT id FROM batches`)
  expect(rows).toEqual([])
})

// One delivery with its attempts, and the redelivery of many.
import { afterEach, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { errorOf } from '../keys/support.ts'
import { type Delivery, SOMETHING, until, type World, world } from './support.ts'

let t: World
afterEach(() => t.close())

const DELIVERIES = '/api/webhooks/deliveries'
const LONG_AGO = '2000-01-01T00:00:00Z'

interface Detail extends Delivery {
  envelope: { id: string; type: string; data: object } | null
  upcoming: string[]
  attempt_log: { at: string; status: number | null; error: string | null; duration_ms: number }[]
}
const detail = async (id: string) => (await (await t.fetch(`${DELIVERIES}/${id}`)).json()) as Detail
const redeliver = (body: object) => t.call('POST', `${DELIVERIES}/redeliver`, body)

it('shows the event, each attempt, and the time of the next one', async () => {
  t = await world()
  await t.endpoint()
  t.receiver.answer = () => ({ status: 503 })
  await t.outbox.publish(SOMETHING)
  await until(async () => (await t.deliveries())[0]?.attempts === 1)
  const [one] = (await t.deliveries()) as [Delivery]
  const first = await detail(one.id)
  expect(first).toMatchObject({ ...one, envelope: { id: one.event_id, type: SOMETHING.type } })
  expect(first.attempt_log).toEqual([
    { at: expect.stringMatching(/Z$/), status: 503, error: 'The endpoint answered 503.', duration_ms: expect.any(Number) },
  ])
  expect(first.upcoming).toHaveLength(6)
  expect(first.upcoming[0]).toBe(first.next_attempt_at)
  expect(Date.parse(first.upcoming[5] as string) - Date.parse(first.upcoming[0] as string)).toBe(36_000_000 - 5000)
  t.receiver.answer = () => ({ status: 200 })
  await t.reach(Date.parse(first.next_attempt_at as string))
  await until(async () => (await t.deliveries())[0]?.status === 'delivered')
  const done = await detail(one.id)
  expect(done.attempt_log.map(({ status }) => status)).toEqual([503, 200])
  expect(done.next_attempt_at).toBeNull()
  expect(done.upcoming).toEqual([])
  expect((await t.fetch(`${DELIVERIES}/dlv_other`)).status).toBe(404)
})

it('queues what was not delivered since a time again, and counts the rest', async () => {
  t = await world()
  const { id } = await t.endpoint()
  t.receiver.answer = () => ({ status: 500 })
  for (let i = 0; i < 3; i++) await t.outbox.publish(SOMETHING)
  await until(async () => (await t.deliveries()).every(({ attempts }) => attempts === 1))
  const [newest] = (await t.deliveries()) as [Delivery]
  await t.gateway.db?.run(sql`UPDATE webhooks_deliveries SET status = 'dead', next_attempt_at = NULL, finished_at = 1`)
  await t.gateway.db?.run(sql`UPDATE webhooks_deliveries SET status = 'failed' WHERE id = ${newest.id}`)
  t.receiver.answer = () => ({ status: 200 })
  const later = new Date(t.clock.now() + 1000).toISOString()
  expect(await (await redeliver({ endpoint_id: id, since: later })).json()).toEqual({ queued: 0, remaining: 0 })
  expect(await (await redeliver({ endpoint_id: id, since: LONG_AGO, status: 'failed' })).json()).toEqual({
    queued: 1,
    remaining: 0,
  })
  expect(await (await redeliver({ endpoint_id: id, since: LONG_AGO })).json()).toEqual({ queued: 2, remaining: 0 })
  await until(async () => (await t.deliveries()).every(({ status }) => status === 'delivered'))
})

it('refuses another endpoint, a disabled one, and wrong members by name', async () => {
  t = await world()
  const { id } = await t.endpoint({ enabled: false })
  expect((await redeliver({ endpoint_id: 'ep_other', since: LONG_AGO })).status).toBe(404)
  expect(await errorOf(await redeliver({ endpoint_id: id, since: LONG_AGO }))).toMatchObject({
    status: 409,
    code: 'endpoint_disabled',
  })
  expect(await errorOf(await redeliver({ endpoint_id: id }))).toMatchObject({ status: 400, param: 'since' })
  expect(await errorOf(await redeliver({ endpoint_id: id, since: LONG_AGO, status: 'delivered' }))).toMatchObject({
    status: 400,
    param: 'status',
  })
})

// Deliveries over HTTP: listed, sent anew.
import { afterEach, describe, expect, it } from 'vitest'
import { errorOf } from '../keys/support.ts'
import { type Delivery, SOMETHING, until, type World, world } from './support.ts'

let t: World
afterEach(() => t.close())

const ENDPOINTS = '/api/webhooks/endpoints'
const DELIVERIES = '/api/webhooks/deliveries'
const NO_ENDPOINT = `ep_${'0'.repeat(24)}`
const NO_DELIVERY = 'dlv_00000000-0000-7000-8000-000000000000'

describe('deliveries', () => {
  it('are listed newest first, page by page, by endpoint and by status', async () => {
    t = await world()
    const good = await t.endpoint({ url: 'http://hooks.example.com/good' })
    const bad = await t.endpoint({ url: 'http://hooks.example.com/bad' })
    t.receiver.answer = ({ path }) => ({ status: path === '/good' ? 200 : 500 })
    for (let i = 0; i < 5; i++) await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries()).every(({ attempts }) => attempts === 1))
    expect((await t.deliveries('&status=delivered')).every(({ endpoint_id }) => endpoint_id === good.id)).toBe(true)
    expect(await t.deliveries(`&endpoint_id=${bad.id}`)).toHaveLength(5)
    expect(await t.deliveries(`&endpoint_id=${bad.id}&status=delivered`)).toEqual([])
    expect(await t.deliveries(`&endpoint_id=${NO_ENDPOINT}`)).toEqual([])
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await t.fetch(`${DELIVERIES}?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`)
      const page = (await answer.json()) as { data: Delivery[]; next_cursor: string | null }
      pages.push(page.data.map(({ id }) => id))
      cursor = page.next_cursor
      // More is written while somebody reads.
      await t.outbox.publish(SOMETHING)
    }
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 2])
    expect(new Set(pages.flat()).size).toBe(10)
  })

  for (const [query, param] of [
    ['status=lost', 'status'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['cursor=x', 'cursor'],
    ['endpoint_id=', 'endpoint_id'],
    ['page=2', 'page'],
  ] as const) {
    it(`?${query} is 400 with \`param\` ${param}`, async () => {
      t = await world()
      expect(await errorOf(await t.fetch(`${DELIVERIES}?${query}`))).toMatchObject({ status: 400, param })
    })
  }

  it('that are neither failed nor dead are not sent again: 409 says so; one that is not there is 404', async () => {
    t = await world()
    const { id } = await t.endpoint()
    await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries())[0]?.status === 'delivered')
    t.receiver.answer = () => ({ status: 500 })
    await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries())[0]?.attempts === 1)
    for (const { id: delivery, status } of await t.deliveries()) {
      const error = await errorOf(await t.call('POST', `${DELIVERIES}/${delivery}/redeliver`))
      expect(error).toMatchObject({ status: 409, message: expect.stringContaining(status) })
    }
    for (const other of [NO_DELIVERY, 'dlv_', '1', 'x'])
      expect((await t.call('POST', `${DELIVERIES}/${other}/redeliver`)).status).toBe(404)
    await t.call('PUT', `${ENDPOINTS}/${id}`, { enabled: false })
    const [given] = (await t.deliveries()) as [Delivery]
    expect(given).toMatchObject({ status: 'failed', last_error: 'The endpoint was disabled.', next_attempt_at: null })
    const disabled = await errorOf(await t.call('POST', `${DELIVERIES}/${given.id}/redeliver`))
    expect(disabled).toMatchObject({ status: 409, code: 'endpoint_disabled' })
    await t.call('DELETE', `${ENDPOINTS}/${id}`)
    const removed = await errorOf(await t.call('POST', `${DELIVERIES}/${given.id}/redeliver`))
    expect(removed).toMatchObject({ status: 409, code: 'endpoint_removed' })
  })
})

it('the metric has each status before there was one', async () => {
  t = await world()
  const text = await (await t.fetch('/metrics')).text()
  expect(text.match(/^gateway_webhook_deliveries_total\{.*$/gm)).toEqual(
    ['delivered', 'failed', 'dead'].map((status) => `gateway_webhook_deliveries_total{status="${status}"} 0`),
  )
})

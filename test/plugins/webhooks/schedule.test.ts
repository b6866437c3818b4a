// When deliveries are sent, on a clock that is moved by hand.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { SITES, type Site } from '../../support/sites.ts'
import { type Arrived, envelopeIn, memoryReceiver, SOMETHING, turns, until, type World, wholeClock, world } from './support.ts'

const OFFSETS = [0, 5_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000, 5 * 3_600_000, 10 * 3_600_000]
const DAY = 24 * 3_600_000

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== null)(`on ${name}`, () => {
    let site: Site
    let t: World
    beforeEach(async () => {
      site = await open()
    })
    afterEach(async () => {
      await t.close()
      await site.end()
    })

    /** The clock goes where the next attempt is due, and that is on its way a moment later. */
    const arrivedAt = async (at: number, count: number) => {
      await t.reach(at - 1)
      expect(t.receiver.arrived, `before +${at}`).toHaveLength(count - 1)
      await t.reach(at)
      await t.arrivals(count)
      await until(async () => (await t.deliveries())[0]?.attempts === ((count - 1) % 7) + 1)
    }

    it('a receiver that is down is asked at exactly 0, +5 s, +5 m, +30 m, +2 h, +5 h, +10 h; then the delivery is dead', async () => {
      t = await world({ env: site.env })
      const { id } = await t.endpoint()
      t.receiver.answer = () => ({ status: 503 })
      const first = t.clock.now()
      await t.outbox.publish(SOMETHING)
      await t.arrivals(1)
      await until(async () => (await t.deliveries())[0]?.attempts === 1)
      for (const [index, offset] of OFFSETS.entries()) {
        if (index > 0) await arrivedAt(first + offset, index + 1)
        const [delivery] = await t.deliveries()
        const next = OFFSETS[index + 1]
        expect(delivery).toMatchObject({
          status: next === undefined ? 'dead' : 'pending',
          attempts: index + 1,
          next_attempt_at: next === undefined ? null : new Date(first + next).toISOString(),
          last_status: 503,
          last_error: 'The endpoint answered 503.',
          delivered_at: null,
        })
      }
      expect(t.receiver.arrived.map(({ at }) => at - first)).toEqual(OFFSETS)
      expect(new Set(t.receiver.arrived.map(({ body }) => body)).size).toBe(1)
      expect(new Set(t.receiver.arrived.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(t.receiver.arrived.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(7)
      expect(new Set(t.receiver.arrived.map(({ headers }) => headers['webhook-signature'])).size).toBe(7)
      expect((await t.endpoints())[0]).toMatchObject({ id, enabled: true, failing_since: new Date(first).toISOString() })
      expect((await t.endpoints())[0]).toMatchObject({
        disables_at: new Date(first + 5 * DAY).toISOString(),
        recent: { pending: 0, delivered: 0, failed: 0, dead: 1 },
      })
      await t.reach(first + 3 * DAY)
      expect(t.receiver.arrived).toHaveLength(7)
      const text = await (await t.fetch('/metrics')).text()
      expect(text).toMatch(/^gateway_webhook_deliveries_total\{status="failed"\} 6$/m)
      expect(text).toMatch(/^gateway_webhook_deliveries_total\{status="dead"\} 1$/m)
      expect(text).toMatch(/^gateway_webhook_deliveries_pending 0$/m)
    })

    it('redelivery sends the same bytes under the same id, from the start of the schedule', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      t.receiver.answer = () => ({ status: 500 })
      const first = t.clock.now()
      await t.outbox.publish(SOMETHING)
      await t.arrivals(1)
      for (const [index, offset] of OFFSETS.entries()) if (index > 0) await arrivedAt(first + offset, index + 1)
      const [dead] = await t.deliveries()
      expect(dead?.status).toBe('dead')
      const again = t.clock.now()
      const answer = await t.call('POST', `/api/webhooks/deliveries/${dead?.id}/redeliver`)
      expect([answer.status, await answer.json()]).toMatchObject([200, { id: dead?.id, status: 'pending', attempts: 0 }])
      await t.arrivals(8)
      await until(async () => (await t.deliveries())[0]?.attempts === 1)
      await arrivedAt(again + 5000, 9)
      const [before, ...after] = [0, 7, 8].map((index) => t.receiver.arrived[index]) as [Arrived, Arrived, Arrived]
      for (const one of after) {
        expect(one.body).toBe(before.body)
        expect(one.headers['webhook-id']).toBe(before.headers['webhook-id'])
        expect(one.headers['webhook-signature']).not.toBe(before.headers['webhook-signature'])
      }
    })

    it('any 2xx is success and ends it; nothing else is', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      for (const [status, state] of [
        [200, 'delivered'],
        [204, 'delivered'],
        [299, 'delivered'],
        [199, 'pending'],
        [301, 'pending'],
        [304, 'pending'],
        [400, 'pending'],
        [410, 'pending'],
        [429, 'pending'],
      ] as const) {
        t.receiver.answer = () => ({ status })
        await t.outbox.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: String(status) } })
        await until(async () => (await t.deliveries())[0]?.last_status === status)
        expect((await t.deliveries())[0], String(status)).toMatchObject({ status: state, attempts: 1 })
      }
    })

    it('a restart in the middle loses no delivery and sends no other event', async () => {
      const clock = wholeClock()
      const receiver = memoryReceiver(() => clock.now())
      t = await world({ env: site.env, clock, receiver })
      await t.endpoint()
      receiver.answer = () => ({ status: 500 })
      for (let i = 0; i < 20; i++) await t.outbox.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: String(i) } })
      await t.arrivals(20)
      await until(async () => (await t.deliveries()).every(({ attempts }) => attempts === 1))
      await t.close()
      receiver.answer = () => ({ status: 200 })
      t = await world({ env: site.env, clock, receiver })
      await t.reach(clock.now() + 6000)
      await until(async () => (await t.deliveries()).every(({ status }) => status === 'delivered'))
      expect(receiver.arrived).toHaveLength(40)
      expect(new Set(receiver.arrived.map(({ headers }) => headers['webhook-id'])).size).toBe(20)
    })

    it('what a killed process was sending is sent by the next one when the lease has ended', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      await t.outbox.publish(SOMETHING)
      await until(async () => (await t.deliveries())[0]?.status === 'delivered')
      // As kill -9 leaves it: claimed, and nobody there.
      const end = t.clock.now() + 60_000
      await t.plugin.db.run(
        sql`UPDATE webhooks_deliveries SET status = 'pending', attempts = 0, lease_owner = 'dead', lease_until = ${end}, finished_at = NULL, next_attempt_at = ${t.clock.now()}`,
      )
      await t.reach(end - 1)
      expect(t.receiver.arrived).toHaveLength(1)
      await until(async () => {
        await t.clock.advance(500)
        return (await t.deliveries())[0]?.status === 'delivered'
      })
      expect(t.receiver.arrived).toHaveLength(2)
    })

    it('retries that came late are not sent at once, one behind the other', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      t.receiver.answer = () => ({ status: 500 })
      await t.outbox.publish(SOMETHING)
      await t.arrivals(1)
      await until(async () => (await t.deliveries())[0]?.attempts === 1)
      t.clock.jump(3 * 3_600_000)
      const late = t.clock.now()
      for (let second = 1; second <= 21; second++) {
        await t.clock.advance(late + second * 1000 - t.clock.now())
        await until(async () => Date.parse((await t.deliveries())[0]?.next_attempt_at ?? '') > t.clock.now())
      }
      const seconds = t.receiver.arrived.slice(1).map(({ at }) => Math.round((at - late) / 1000))
      // A look that was under way when the hours went by finds it at once.
      expect(seconds[0]).toBeLessThanOrEqual(1)
      expect(seconds.slice(0, 4).map((at) => at - (seconds[0] as number))).toEqual([0, 5, 10, 15])
      expect(seconds.slice(4).every((at) => at === 20)).toBe(true)
    })

    it('an endpoint that fails for five days is disabled, and the other enabled endpoints are told', async () => {
      t = await world({ env: site.env })
      const bad = await t.endpoint({ url: 'http://hooks.example.com/bad' })
      await t.endpoint({ url: 'http://hooks.example.com/good' })
      await t.endpoint({ url: 'http://hooks.example.com/off', enabled: false })
      await t.endpoint({ url: 'http://hooks.example.com/other', event_types: ['budget.crossed'] })
      t.receiver.answer = ({ path }) => ({ status: path === '/bad' ? 500 : 200 })
      const began = t.clock.now()
      const count = (path: string) => t.receiver.arrived.filter((one) => one.path === path).length
      for (let day = 0; day <= 5; day++) {
        await t.reach(began + day * DAY + 1)
        const before = count('/bad')
        await t.outbox.publish(SOMETHING)
        // On the last day an attempt of the day before may have ended late, and disabled it already.
        await until(async () => count('/bad') > before || (day === 5 && (await t.endpoints())[0]?.enabled === false))
        await turns()
        if (day === 4) expect((await t.endpoints())[0]).toMatchObject({ enabled: true })
      }
      await until(async () => (await t.endpoints())[0]?.enabled === false)
      await until(async () => {
        await t.clock.advance(100)
        return t.receiver.arrived.some((one) => envelopeIn(one).type === 'webhook.endpoint_auto_disabled')
      })
      await turns()
      const told = t.receiver.arrived.filter((one) => envelopeIn(one).type === 'webhook.endpoint_auto_disabled')
      expect(told.map(({ path }) => path)).toEqual(['/good'])
      const { failing_since } = (await t.endpoints())[0] as { failing_since: string }
      expect(envelopeIn(told[0] as Arrived).data).toEqual({
        endpoint_id: bad.id,
        url: bad.url,
        failing_since,
        disabled_at: expect.stringMatching(/Z$/),
      })
      expect(new Date(failing_since).getTime() - began).toBeLessThan(10)
      // What was waiting is given up; nothing more is sent to it.
      const sent = count('/bad')
      await t.outbox.publish(SOMETHING)
      await t.reach(began + 7 * DAY)
      expect(count('/bad')).toBe(sent)
      await until(async () => {
        await t.clock.advance(500)
        return (await t.deliveries(`&endpoint_id=${bad.id}&status=pending`)).length === 0
      })
      expect(count('/bad')).toBe(sent)
      const text = await (await t.fetch('/metrics')).text()
      expect(text).toMatch(/gateway_webhook_endpoints_auto_disabled_total 1/)

      const put = await t.call('PUT', `/api/webhooks/endpoints/${bad.id}`, { enabled: true })
      expect(await put.json()).toMatchObject({ enabled: true, failing_since: null })
      t.receiver.answer = () => ({ status: 500 })
      await t.outbox.publish(SOMETHING)
      await until(() => count('/bad') > sent)
      await until(async () => (await t.endpoints())[0]?.failing_since !== null)
      expect((await t.endpoints())[0]).toMatchObject({ enabled: true })
    })

    it('one success ends the streak', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      t.receiver.answer = () => ({ status: 500 })
      await t.outbox.publish(SOMETHING)
      await until(async () => (await t.endpoints())[0]?.failing_since !== null)
      t.receiver.answer = () => ({ status: 200 })
      await t.outbox.publish(SOMETHING)
      await until(async () => (await t.endpoints())[0]?.failing_since === null)
    })

    it('no more than four are under way to one endpoint, and a slow one does not hold up another', async () => {
      t = await world({ env: site.env })
      await t.endpoint({ url: 'http://hooks.example.com/slow' })
      await t.endpoint({ url: 'http://hooks.example.com/quick' })
      let running = 0
      let most = 0
      const waiting: (() => void)[] = []
      t.receiver.answer = async ({ path }) => {
        if (path === '/quick') return { status: 200 }
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => waiting.push(resolve))
        running--
        return { status: 200 }
      }
      for (let i = 0; i < 12; i++) await t.outbox.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: String(i) } })
      const quick = () => t.receiver.arrived.filter(({ path }) => path === '/quick').length
      await until(() => quick() === 12 && running === 4)
      await turns()
      expect([running, most]).toEqual([4, 4])
      await until(async () => {
        for (const go of waiting.splice(0)) go()
        return (await t.deliveries('&status=delivered')).length === 24
      })
      expect(most).toBe(4)
    })

    it('an attempt without an answer ends after 15 s', async () => {
      t = await world({ env: site.env })
      await t.endpoint()
      t.receiver.answer = ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      await t.outbox.publish(SOMETHING)
      await t.arrivals(1)
      await t.clock.advance(14_900)
      expect((await t.deliveries())[0]?.attempts).toBe(0)
      await t.clock.advance(200)
      await until(async () => (await t.deliveries())[0]?.attempts === 1)
      expect((await t.deliveries())[0]).toMatchObject({ last_status: null, last_error: 'There was no answer within 15 s.' })
    })
  })
}

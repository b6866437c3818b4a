// Limits of listeners: of one session, and in total.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { liveEvents } from '../../../plugins/live-events/index.ts'
import { bearer, cheapHash, errorOf, makeToken, sessionOf } from '../sign-in/support.ts'
import { type Client, connect, tellingGateway } from './support.ts'

let t: TestGateway
const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.leave()
  await t.close()
})

async function listen(count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const { port } = await t.listen()
  const statuses: number[] = []
  for (let i = 0; i < count; i++) {
    const client = await connect(port, '/api/events', headers)
    clients.push(client)
    statuses.push(client.status)
  }
  return statuses
}

it('five of one session: the sixth is 429, another credential is not touched, and who leaves makes room', async () => {
  t = await tellingGateway({ env: { DASHBOARD_PASSWORD_HASH: await cheapHash() } })
  const session = await sessionOf(t)
  const { token } = await makeToken(t, session, { scope: 'read' })
  expect(await listen(6, bearer(session))).toEqual([200, 200, 200, 200, 200, 429])
  expect(await errorOf(await t.fetch('/api/events', { headers: bearer(session) }))).toMatchObject({
    status: 429,
    type: 'rate_limit_error',
  })
  // With the token in the address it is the same session.
  expect((await t.fetch(`/api/events?access_token=${session}`)).status).toBe(429)
  expect(await listen(2, bearer(token))).toEqual([200, 200])
  expect(await t.gateway.metrics.text()).toContain('gateway_live_events_refused_total{bound="session"} 3')
  clients[0]?.leave()
  await expect.poll(async () => (await listen(1, bearer(session)))[0]).toBe(200)
})

it('in all, by setting', async () => {
  t = await createTestGateway({ config: { connections: {}, plugins: [liveEvents({ maxListeners: 2, maxPerSession: 9 })] } })
  expect(await listen(3)).toEqual([200, 200, 429])
  expect(await t.gateway.metrics.text()).toContain('gateway_live_events_refused_total{bound="total"} 1')
})

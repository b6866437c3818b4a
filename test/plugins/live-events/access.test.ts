// Access to live events, and the handling of a token in the URL.
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../adapters/client/index.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { VERSION } from '../../../core/version.ts'
import { liveEvents } from '../../../plugins/live-events/index.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { makeKey } from '../keys/support.ts'
import { ask } from '../request-log/support.ts'
import { bearer, cheapHash, errorOf, makeToken, sessionOf } from '../sign-in/support.ts'
import { connect, listenIn, tellingGateway } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

const secured = async (options: Parameters<typeof tellingGateway>[0] = {}) =>
  tellingGateway({ ...options, env: { DASHBOARD_PASSWORD_HASH: await cheapHash(), ...options.env } })
/** HEAD, so that no stream stays open. */
const allowed = async (query = '', headers: Record<string, string> = {}, method = 'HEAD') =>
  (await t.fetch(`/api/events${query}`, { method, headers })).status

describe('a listener', () => {
  it('needs a session or a management token where a password is set', async () => {
    t = await secured()
    const session = await sessionOf(t)
    const { token } = await makeToken(t, session, { scope: 'read' })
    const { error } = { error: await errorOf(await t.fetch('/api/events')) }
    expect(error).toMatchObject({ status: 401, type: 'authentication_error', code: 'invalid_credentials' })
    expect(await allowed('', bearer(session))).toBe(200)
    expect(await allowed('', bearer(token))).toBe(200)
    expect(await allowed('', bearer('x'))).toBe(401)
  })

  it('may show its session token in the address, over a socket too', async () => {
    t = await secured()
    const session = await sessionOf(t)
    const { port } = await t.listen()
    const client = await connect(port, `/api/events?access_token=${session}`)
    expect(client.status).toBe(200)
    await client.until(() => client.events[0]?.event === 'hello')
    client.leave()
    expect((await connect(port, '/api/events')).status).toBe(401)
  })

  it('may show nothing else there', async () => {
    t = await secured()
    const session = await sessionOf(t)
    const { token } = await makeToken(t, session)
    const { key } = (await (await t.post('/api/keys', {}, bearer(session))).json()) as { key: string }
    const parts = session.split('.')
    const wrong = [token, key, 'x', '', 'a.b.c', `${parts[0]}.${parts[1]}.`, `${session}x`, `${session}%0a`, 'null']
    for (const value of wrong) expect(await allowed(`?access_token=${value}`), value.slice(0, 12)).toBe(401)
    // A token in the address does not replace a wrong header.
    expect(await allowed(`?access_token=${session}`, bearer('x'))).toBe(401)
    expect(await allowed(`?access_token=${session}&other=1`)).toBe(400)
  })

  it('that sits at the machine needs none while no password is set; others do', async () => {
    t = await tellingGateway()
    expect(await allowed()).toBe(200)
    expect(await allowed('?access_token=a.b.c')).toBe(401)
    for (const local of [false, null]) {
      const request = new Request('http://gateway.test/api/events', { method: 'HEAD' })
      expect((await t.gateway.fetch(request, { address: '203.0.113.5', local: local as never })).status).toBe(401)
    }
    await makeKey(t)
  })

  it.each([
    ['system', 2],
    ['owner', undefined],
    ['member', undefined],
  ] as const)('of the role %s hears generation %s first', async (role, generation) => {
    t = await tellingGateway()
    await t.gateway.reload({ plugins: [liveEvents()] })
    const operator = { actor: 'someone', orgId: null, role, readOnly: false, auth: 'host' } as const
    const events = createClient({ gateway: t.gateway, operator }).events()
    const { value } = await events.next()
    await events.return(undefined)
    expect(value).toMatchObject({ event: 'hello', data: { version: VERSION } })
    expect((value as { data: { generation?: number } }).data.generation).toBe(generation)
  })

  it('whose session ends hears no more', async () => {
    const clock = fakeClock()
    t = await secured({ ports: { clock } })
    const session = await sessionOf(t)
    const client = await listenIn(t, `/api/events?access_token=${session}`)
    await clock.advance('31s')
    await client.until(() => client.comments.length === 2)
    expect((await t.post('/api/auth/logout', {}, bearer(session))).status).toBe(200)
    await clock.advance('16s')
    await client.until(() => client.over)
  })
})

describe('a token in the address', () => {
  it('opens no other route', async () => {
    t = await secured({ env: { REQUIRE_API_KEY: 'true' } })
    const session = await sessionOf(t)
    const { port } = await t.listen()
    const paths = t.gateway.api.filter(({ method, role }) => method === 'GET' && role !== 'public').map(({ path }) => path)
    expect(paths.length).toBeGreaterThan(8)
    for (const path of [...paths, '/metrics'])
      expect((await connect(port, `${path.replace(/:\w+/g, '1')}?access_token=${session}`)).status, path).toBe(401)
    const data = await t.post(`/v1/chat/completions?access_token=${session}`, ask())
    expect(data.status).toBe(401)
  })

  it('is in no log and in no answer', async () => {
    const log = recordingLog()
    t = await secured({ ports: { log } })
    const session = await sessionOf(t)
    const { port } = await t.listen()
    const said: string[] = []
    for (const path of ['/api/events', '/api/keys', '/api/nothing', '/v1/models', '/v1/nothing', '/api/events/x']) {
      const client = await connect(port, `${path}?access_token=${session}`)
      if (client.status === 200) await client.until(() => client.events.length === 1)
      else await client.until(() => client.over)
      said.push(client.raw(), JSON.stringify(client.headers))
      client.leave()
    }
    const bad = await t.fetch(`/api/events?access_token=${session}&x=${session}`)
    said.push(await bad.text())
    const places = [...said, JSON.stringify(log)].join('\n')
    for (const part of session.split('.').slice(1)) expect(places).not.toContain(part)
  })
})

// /api/webhooks: what goes in, what is shown, and who sees it.
import { afterEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { secret as secretOf } from '../../../core/config/secret.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { errorOf } from '../keys/support.ts'
import { type Delivery, type Endpoint, envelopeIn, HOOK_URL, SOMETHING, until, type World, world } from './support.ts'

let t: World
afterEach(() => t.close())

const ENDPOINTS = '/api/webhooks/endpoints'
const DELIVERIES = '/api/webhooks/deliveries'
const NO_ENDPOINT = `ep_${'0'.repeat(24)}`

describe('an endpoint', () => {
  it('is made, changed, rotated and removed; its secret is in the two answers that make one', async () => {
    t = await world()
    const response = await t.call('POST', ENDPOINTS, { url: HOOK_URL })
    const made = (await response.json()) as Endpoint
    const created_at = new Date(t.clock.now()).toISOString()
    const record = {
      id: expect.stringMatching(/^ep_[0-9A-Za-z]{24}$/),
      url: HOOK_URL,
      event_types: [],
      format: 'standard',
      enabled: true,
      secret_hint: `…${made.secret.replace(/=+$/, '').slice(-4)}`,
      failing_since: null,
      disables_at: null,
      auto_disabled_at: null,
      recent: { pending: 0, delivered: 0, failed: 0, dead: 0 },
      managed_by: 'api',
      config_key: null,
      created_at,
      updated_at: created_at,
    }
    expect([response.status, made]).toEqual([201, { ...record, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) }])
    expect(await t.endpoints()).toEqual([record])

    t.clock.jump(1000)
    const body = { event_types: ['budget.crossed', 'key.created', 'budget.crossed'], format: 'slack', enabled: false }
    const changed = await (await t.call('PUT', `${ENDPOINTS}/${made.id}`, body)).json()
    const updated_at = new Date(t.clock.now()).toISOString()
    expect(changed).toEqual({ ...record, ...body, event_types: ['budget.crossed', 'key.created'], updated_at })
    expect(await t.endpoints()).toEqual([changed])

    const rotated = (await (await t.call('POST', `${ENDPOINTS}/${made.id}/rotate-secret`)).json()) as Endpoint
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(made.secret)
    expect((await t.endpoints())[0]?.secret_hint).toBe(rotated.secret_hint)

    const gone = await t.call('DELETE', `${ENDPOINTS}/${made.id}`)
    expect([gone.status, await gone.json()]).toEqual([200, { deleted: true }])
    expect(await t.endpoints()).toEqual([])
    expect((await t.call('DELETE', `${ENDPOINTS}/${made.id}`)).status).toBe(404)
  })

  const bad: [string, unknown, string | null][] = [
    ['no URL', {}, 'url'],
    ['a number as URL', { url: 7 }, 'url'],
    ['a URL that is too long', { url: `https://hooks.example.com/${'a'.repeat(2048)}` }, 'url'],
    ['an unknown event', { url: HOOK_URL, event_types: ['budget.crossed', 'key.created', 'budget.melted'] }, 'event_types.2'],
    ['the test event', { url: HOOK_URL, event_types: ['webhook.test'] }, 'event_types.0'],
    ['a wildcard', { url: HOOK_URL, event_types: ['*'] }, 'event_types.0'],
    ['event types that are no list', { url: HOOK_URL, event_types: 'budget.crossed' }, 'event_types'],
    ['too many event types', { url: HOOK_URL, event_types: Array(101).fill('budget.crossed') }, 'event_types'],
    ['an unknown format', { url: HOOK_URL, format: 'teams' }, 'format'],
    ['enabled as text', { url: HOOK_URL, enabled: 'yes' }, 'enabled'],
    ['a secret of one’s own', { url: HOOK_URL, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, 'secret'],
    ['an unknown member', { url: HOOK_URL, color: 'red' }, 'color'],
    ['a list', [], null],
  ]
  for (const [what, body, param] of bad) {
    it(`${what} is 400 with \`param\` ${param ?? 'null'}, for both writes`, async () => {
      t = await world()
      expect(await errorOf(await t.call('POST', ENDPOINTS, body))).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        param,
      })
      const { id } = await t.endpoint()
      if (what === 'no URL') return
      expect(await errorOf(await t.call('PUT', `${ENDPOINTS}/${id}`, body))).toMatchObject({ status: 400, param })
    })
  }

  it('an unknown event is named, beside those that there are', async () => {
    t = await world()
    const refused = await t.call('POST', ENDPOINTS, { url: HOOK_URL, event_types: [`budget.melted${'x'.repeat(100)}`] })
    const { message } = await errorOf(refused)
    expect(message).toMatch(/^`event_types\.0`: `budget\.meltedx+` is none of request\.failed, .*spend\.tracked$/)
    expect(message).not.toContain('x'.repeat(60))
  })

  it('that is not there is 404, whatever is wanted of it', async () => {
    t = await world()
    for (const id of [NO_ENDPOINT, 'ep_', '1', 'ep_%00', `${NO_ENDPOINT}x`, "ep_' OR 1=1"]) {
      for (const [method, tail, body] of [
        ['PUT', '', { enabled: true }],
        ['DELETE', ''],
        ['POST', '/test'],
        ['POST', '/rotate-secret'],
      ] as const) {
        const error = await errorOf(await t.call(method, `${ENDPOINTS}/${encodeURIComponent(id)}${tail}`, body))
        expect(error, `${method} ${id}${tail}`).toMatchObject({ status: 404, type: 'invalid_request_error' })
      }
    }
  })

  it('answers 404 for the endpoint of another organization and for its deliveries', async () => {
    t = await world()
    const mine = await t.endpoint()
    await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries())[0]?.status === 'delivered')
    const [delivery] = (await t.deliveries()) as [Delivery]
    const other: Operator = { actor: 'user:7', orgId: 7, role: 'manage', readOnly: false, auth: 'host' }
    const as = async (method: string, path: string, body?: unknown) =>
      t.gateway.control.fetch(
        new Request(`http://gateway.test${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
        { address: '127.0.0.1', local: true, secure: false, operator: other },
      )
    const asOther = async (method: string, path: string, body?: unknown) => (await as(method, path, body)).status
    expect(await (await as('GET', ENDPOINTS)).json()).toEqual({ data: [] })
    expect(await asOther('PUT', `${ENDPOINTS}/${mine.id}`, { enabled: false })).toBe(404)
    expect(await asOther('DELETE', `${ENDPOINTS}/${mine.id}`)).toBe(404)
    expect(await asOther('POST', `${ENDPOINTS}/${mine.id}/test`)).toBe(404)
    expect(await asOther('POST', `${ENDPOINTS}/${mine.id}/rotate-secret`)).toBe(404)
    expect(await asOther('POST', `${DELIVERIES}/${delivery.id}/redeliver`)).toBe(404)
    for (const query of ['', `?endpoint_id=${mine.id}`])
      expect((await (await as('GET', DELIVERIES + query)).json()).data).toEqual([])
  })

  it('declared in the file is read-only, but for a secret the file does not give and for what the gateway did itself', async () => {
    const config = (more: object = {}): GatewayConfig => ({ webhooks: { ops: { url: HOOK_URL, ...more } } }) as GatewayConfig
    t = await world({ config: config() })
    const [ops] = (await t.endpoints()) as [Endpoint]
    for (const [method, tail, body] of [
      ['PUT', '', { enabled: false }],
      ['PUT', '', { enabled: true }],
      ['DELETE', ''],
    ] as const) {
      const error = await errorOf(await t.call(method, `${ENDPOINTS}/${ops.id}${tail}`, body))
      expect(error).toMatchObject({ status: 409, code: 'managed_by_config', message: expect.stringContaining('webhooks.ops') })
    }
    expect((await t.call('POST', `${ENDPOINTS}/${ops.id}/rotate-secret`)).status).toBe(200)
    await t.plugin.db.run(sql`UPDATE webhooks_endpoints SET enabled = 0, auto_disabled_at = 1, failing_since = 1`)
    expect((await t.call('PUT', `${ENDPOINTS}/${ops.id}`, { enabled: true, format: 'slack' })).status).toBe(409)
    const revived = await t.call('PUT', `${ENDPOINTS}/${ops.id}`, { enabled: true })
    expect([revived.status, await revived.json()]).toMatchObject([200, { enabled: true, failing_since: null }])
    await t.close()
    const given = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    t = await world({ config: config({ secret: secretOf.env('OPS') }), ports: { env: { OPS: given } } })
    const [of] = (await t.endpoints()) as [Endpoint]
    expect((await t.call('POST', `${ENDPOINTS}/${of.id}/rotate-secret`)).status).toBe(409)
    expect(of.secret_hint).toBe('…LaSw')
  })

  it('is not made through the API where the file says that it alone makes them', async () => {
    t = await world({ config: { exclusive: ['webhooks'] } })
    expect(await errorOf(await t.call('POST', ENDPOINTS, { url: HOOK_URL }))).toMatchObject({ status: 409 })
  })

  it('what is done to it is in the audit log, without a secret', async () => {
    t = await world()
    const made = await t.endpoint()
    const rotated = (await (await t.call('POST', `${ENDPOINTS}/${made.id}/rotate-secret`)).json()) as Endpoint
    await t.call('PUT', `${ENDPOINTS}/${made.id}`, { enabled: true })
    await t.call('POST', `${ENDPOINTS}/${made.id}/test`)
    await t.call('DELETE', `${ENDPOINTS}/${made.id}`)
    const text = await (await t.fetch('/api/audit')).text()
    const actions = (JSON.parse(text) as { data: { action: string; target: string }[] }).data
    expect(actions.map(({ action }) => action).reverse()).toEqual([
      ...['webhook.create', 'webhook.rotate_secret', 'webhook.update', 'webhook.test', 'webhook.delete'],
    ])
    for (const { target } of actions) expect(target).toBe(made.id)
    for (const { secret } of [made, rotated]) expect(text).not.toContain(secret)
  })
})

describe('a test', () => {
  it('is delivered once to that endpoint alone, whatever it subscribes to, and the answer says what became of it', async () => {
    t = await world()
    const { id } = await t.endpoint({ event_types: ['budget.crossed'], enabled: false })
    await t.endpoint({ url: 'http://hooks.example.com/other' })
    const answer = await t.call('POST', `${ENDPOINTS}/${id}/test`)
    const delivery = (await answer.json()) as Delivery
    const now = new Date(t.clock.now()).toISOString()
    expect([answer.status, delivery]).toEqual([
      200,
      {
        id: expect.stringMatching(/^dlv_[0-9a-f-]{36}$/),
        endpoint_id: id,
        event_id: expect.stringMatching(/^evt_/),
        event_type: 'webhook.test',
        status: 'delivered',
        attempts: 1,
        next_attempt_at: null,
        last_status: 200,
        last_error: null,
        created_at: now,
        delivered_at: now,
      },
    ])
    expect(t.receiver.arrived.map(({ path }) => path)).toEqual(['/in'])
    const [arrived] = t.receiver.arrived.map(envelopeIn)
    expect(arrived).toMatchObject({ id: delivery.event_id, type: 'webhook.test', data: { endpoint_id: id } })
    await t.clock.advance(5000)
    expect(t.receiver.arrived).toHaveLength(1)
  })

  it('that fails is not repeated, and starts no streak; it can be sent again', async () => {
    t = await world()
    const { id } = await t.endpoint()
    t.receiver.answer = () => ({ status: 404 })
    const failed = (await (await t.call('POST', `${ENDPOINTS}/${id}/test`)).json()) as Delivery
    expect(failed).toMatchObject({ status: 'failed', attempts: 1, last_status: 404, next_attempt_at: null })
    await t.clock.advance(10_000)
    expect(t.receiver.arrived).toHaveLength(1)
    expect((await t.endpoints())[0]?.failing_since).toBeNull()
    t.receiver.answer = () => ({ status: 200 })
    expect((await t.call('POST', `${DELIVERIES}/${failed.id}/redeliver`)).status).toBe(200)
    await until(async () => (await t.deliveries())[0]?.status === 'delivered')
    expect(new Set(t.receiver.arrived.map(({ body }) => body)).size).toBe(1)
  })
})

it('no secret is in any other answer, in a log, a metric, a body or a header that was sent, or in the clear in the database', async () => {
  const log = recordingLog()
  t = await world({ ports: { log } })
  const { id, secret: first } = await t.endpoint()
  const second = ((await (await t.call('POST', `${ENDPOINTS}/${id}/rotate-secret`)).json()) as Endpoint).secret
  await t.outbox.publish(SOMETHING)
  await t.call('POST', `${ENDPOINTS}/${id}/test`)
  t.receiver.answer = () => {
    throw new Error(`it failed over ${first}`)
  }
  await t.outbox.publish(SOMETHING)
  await until(async () => (await t.deliveries()).length === 3 && (await t.deliveries()).every(({ attempts }) => attempts === 1))
  const answers = await Promise.all([
    ...[ENDPOINTS, DELIVERIES, '/api/audit', '/metrics', '/api/openapi.json', '/healthz'].map((path) => t.fetch(path)),
    t.call('PUT', `${ENDPOINTS}/${id}`, { enabled: true }),
    t.call('POST', `${ENDPOINTS}/${id}/test`),
    t.call('DELETE', `${ENDPOINTS}/${id}`),
  ])
  const seen = [
    ...(await Promise.all(answers.map((answer) => answer.text()))),
    JSON.stringify(log.lines),
    JSON.stringify(t.receiver.arrived.map(({ body, headers }) => [body, headers])),
    ...(await Promise.all(
      ['webhooks_endpoints', 'webhooks_events', 'webhooks_deliveries', 'audit_log'].map(async (table) =>
        JSON.stringify(await t.plugin.db.all(sql`SELECT * FROM ${sql.id(table)}`)),
      ),
    )),
  ].join('\n')
  expect(seen).toContain(id)
  for (const secret of [first, second]) {
    expect(seen).not.toContain(secret)
    expect(seen).not.toContain(secret.slice('whsec_'.length, -6))
  }
})

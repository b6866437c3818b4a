// Signatures as independent receivers see them.
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { VERSION } from '../../../core/version.ts'
import { signatures } from '../../../plugins/webhooks/delivery/attempt.ts'
import { newSecret } from '../../../plugins/webhooks/delivery/secret.ts'
import { type Arrived, envelopeIn, SOMETHING, type World, world } from './support.ts'

let t: World
afterEach(async () => {
  vi.useRealTimers()
  await t?.close()
})

/** Both packages look at the wall clock themselves. */
function verified(secret: string, { body, headers }: Pick<Arrived, 'body' | 'headers'>, at: number): unknown {
  vi.useFakeTimers({ now: at, toFake: ['Date'] })
  const standard = new StandardWebhook(secret).verify(body, headers)
  // It throws for what it does not take, and returns nothing.
  new SvixWebhook(secret).verify(body, headers)
  return standard
}

const refusedByBoth = (secret: string, arrived: Pick<Arrived, 'body' | 'headers'>, at: number, why: string) => {
  vi.useFakeTimers({ now: at, toFake: ['Date'] })
  expect(() => new StandardWebhook(secret).verify(arrived.body, arrived.headers), why).toThrow()
  expect(() => new SvixWebhook(secret).verify(arrived.body, arrived.headers), why).toThrow()
}

it('signs the public vector of Standard Webhooks as it is published', async () => {
  const signature = await signatures(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
  )
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

it('a secret is `whsec_` and base64 of 32 bytes, never the same twice', () => {
  const secrets = Array.from({ length: 100 }, newSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
})

describe('a delivery', () => {
  it('is verified by standardwebhooks and svix, with the documented headers', async () => {
    t = await world()
    const { secret } = await t.endpoint()
    await t.outbox.publish(SOMETHING)
    const [arrived] = (await t.arrivals(1)) as [Arrived]
    expect(verified(secret, arrived, t.clock.now())).toEqual(envelopeIn(arrived))
    expect(envelopeIn(arrived)).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      type: SOMETHING.type,
      created_at: new Date(t.clock.now()).toISOString(),
      api_version: 'v1',
      org_id: null,
      data: SOMETHING.data,
    })
    expect(arrived.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': `gateway-webhooks/${VERSION}`,
      'webhook-id': envelopeIn(arrived).id,
      'webhook-timestamp': String(Math.floor(t.clock.now() / 1000)),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    })
  })

  it('that was tampered with in any of 12 ways is refused by both', async () => {
    t = await world()
    const { secret } = await t.endpoint()
    await t.outbox.publish(SOMETHING)
    const [{ body, headers }] = (await t.arrivals(1)) as [Arrived]
    const now = t.clock.now()
    const but = (changed: Record<string, string>) => ({ body, headers: { ...headers, ...changed } })
    const signature = headers['webhook-signature'] as string
    const flipped = signature.slice(0, 3) + (signature[3] === 'A' ? 'B' : 'A') + signature.slice(4)
    const without = (name: string) => ({ body, headers: Object.fromEntries(Object.entries(headers).filter(([n]) => n !== name)) })
    const ways: [string, { body: string; headers: Record<string, string> }, number?, string?][] = [
      ['one space more', { body: `${body} `, headers }],
      ['one character changed', { body: body.replace('acme', 'acmf'), headers }],
      [
        'members in another order',
        { body: JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())), headers },
      ],
      ['no body', { body: '', headers }],
      ['another id', but({ 'webhook-id': 'evt_0' })],
      ['another timestamp', but({ 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })],
      ['a signature with one character changed', but({ 'webhook-signature': flipped })],
      ['a signature cut short', but({ 'webhook-signature': signature.slice(0, -4) })],
      ['a signature of another version', but({ 'webhook-signature': signature.replace('v1,', 'v2,') })],
      ['no signature', without('webhook-signature')],
      ['replayed after more than five minutes', { body, headers }, now + 301_000],
      ['the secret of another endpoint', { body, headers }, now, newSecret()],
    ]
    expect(ways).toHaveLength(12)
    for (const [why, arrived, at = now, other = secret] of ways) refusedByBoth(other, arrived, at, why)
    expect(verified(secret, { body, headers }, now)).toBeTruthy()
  })

  it('carries both signatures for 24 hours after a rotation, and then the new one alone', async () => {
    t = await world()
    const { id, secret: old } = await t.endpoint()
    await t.outbox.publish(SOMETHING)
    await t.arrivals(1)
    const response = await t.call('POST', `/api/webhooks/endpoints/${id}/rotate-secret`)
    const { secret: fresh } = (await response.json()) as { secret: string }
    expect(fresh).not.toBe(old)
    await t.outbox.publish(SOMETHING)
    const [, both] = (await t.arrivals(2)) as [Arrived, Arrived]
    expect(both.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/)
    const at = t.clock.now()
    for (const secret of [fresh, old]) expect(verified(secret, both, at)).toBeTruthy()
    vi.useRealTimers()
    t.clock.jump(24 * 3_600_000)
    await t.outbox.publish(SOMETHING)
    const [, , after] = (await t.arrivals(3)) as [Arrived, Arrived, Arrived]
    expect(after.headers['webhook-signature']).toMatch(/^v1,\S{44}$/)
    const later = t.clock.now()
    expect(verified(fresh, after, later)).toBeTruthy()
    refusedByBoth(old, after, later, 'the old secret')
  })

  it('is signed in the chat formats, too', async () => {
    t = await world()
    const slack = await t.endpoint({ format: 'slack' })
    const discord = await t.endpoint({ url: 'http://hooks.example.com/discord', format: 'discord' })
    await t.outbox.publish(SOMETHING)
    const arrived = await t.arrivals(2)
    const at = (path: string) => arrived.find((one) => one.path === path) as Arrived
    const line = 'account.quota_exhausted: acme account 7'
    expect(verified(slack.secret, at('/in'), t.clock.now())).toEqual({ text: line })
    expect(verified(discord.secret, at('/discord'), t.clock.now())).toEqual({ content: line })
    expect(at('/in').headers['webhook-id']).toBe(at('/discord').headers['webhook-id'])
  })

  it('never goes out unsigned: without a secret that opens the attempt fails', async () => {
    t = await world()
    await t.endpoint()
    const { sql } = await import('../../../core/db/sql.ts')
    await t.plugin.db.run(sql`UPDATE webhooks_endpoints SET secret = NULL`)
    await t.outbox.publish(SOMETHING)
    await expect.poll(async () => (await t.deliveries())[0]?.attempts).toBe(1)
    expect(t.receiver.arrived).toEqual([])
    expect((await t.deliveries())[0]).toMatchObject({ status: 'pending', last_error: expect.stringContaining('secret') })
  })
})

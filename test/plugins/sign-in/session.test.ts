// Session tokens: what is not exactly one of ours opens nothing.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { bearer, errorOf, type JumpingClock, jumpingClock, securedGateway, sessionOf } from './support.ts'

const SECRET = 'kd83Hs0qLmZ1vTfW7cXpRy2uJbNa6Ge4'
const HOURS = 3600

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const hmac = (text: string, secret: string | Buffer, hash = 'sha256') => createHmac(hash, secret).update(text).digest('base64url')
const made = (header: object, claims: object, secret: string | Buffer = SECRET, hash = 'sha256'): string => {
  const text = `${part(header)}.${part(claims)}`
  return `${text}.${hmac(text, secret, hash)}`
}

describe('a session token', () => {
  let t: TestGateway
  let clock: JumpingClock
  let genuine: string
  let claims: Record<string, unknown>
  const header = { alg: 'HS256', typ: 'JWT' }
  beforeAll(async () => {
    clock = jumpingClock()
    t = await securedGateway({ env: { JWT_SECRET: SECRET }, ports: { clock } })
    genuine = await sessionOf(t)
    claims = JSON.parse(Buffer.from(genuine.split('.')[1] as string, 'base64url').toString())
  })
  afterAll(() => t.close())
  const status = async (token: string) => (await t.fetch('/api/keys', { headers: bearer(token) })).status

  it('that is genuine opens the control plane, and so does the same made anew: the forgeries below differ in one thing each', async () => {
    expect(await status(genuine)).toBe(200)
    expect(await status(made(header, claims))).toBe(200)
  })

  const now = () => Math.floor(clock.now() / 1000)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const [h, p, s] = [0, 1, 2].map((i) => () => genuine.split('.')[i] as string) as [() => string, () => string, () => string]
  const forgeries: Record<string, () => string> = {
    'alg none, no signature': () => `${part({ alg: 'none', typ: 'JWT' })}.${p()}.`,
    'alg none, old signature': () => `${part({ alg: 'none', typ: 'JWT' })}.${p()}.${s()}`,
    'alg NoNe': () => `${part({ alg: 'NoNe', typ: 'JWT' })}.${p()}.`,
    'alg missing': () => made({ typ: 'JWT' }, claims),
    'alg of a list': () => made({ alg: ['HS256'], typ: 'JWT' }, claims),
    'alg HS384 with the right secret': () => made({ ...header, alg: 'HS384' }, claims, SECRET, 'sha384'),
    'alg HS512 with the right secret': () => made({ ...header, alg: 'HS512' }, claims, SECRET, 'sha512'),
    'alg RS256 with a key of his own': () => {
      const text = `${part({ ...header, alg: 'RS256' })}.${p()}`
      return `${text}.${sign('sha256', Buffer.from(text), rsa.privateKey).toString('base64url')}`
    },
    'HS256 under a public key': () => made(header, claims, pem),
    'his own key in jwk': () => made({ ...header, jwk: { kty: 'oct', k: part('mine') } }, claims, 'mine'),
    'his own key at jku': () => made({ ...header, jku: 'http://127.0.0.1:9/keys' }, claims, 'mine'),
    'a kid that is a path': () => made({ ...header, kid: '../../../../dev/null' }, claims, ''),
    'a kid that is SQL': () => made({ ...header, kid: "x' UNION SELECT 'mine" }, claims, 'mine'),
    'a critical extension': () => made({ ...header, crit: ['exp2'], exp2: 1 }, claims),
    'another secret': () => made(header, claims, `${SECRET}x`),
    'an empty secret': () => made(header, claims, ''),
    'another typ in the header': () => made({ ...header, typ: 'at+jwt' }, claims),
    'no typ in the header': () => made({ alg: 'HS256' }, claims),
    'another typ in the claims': () => made(header, { ...claims, typ: 'verify' }),
    'no typ in the claims': () => made(header, { ...claims, typ: undefined }),
    'another issuer': () => made(header, { ...claims, iss: 'https://evil.test' }),
    'another audience': () => made(header, { ...claims, aud: 'elsewhere' }),
    'no audience': () => made(header, { ...claims, aud: undefined }),
    'another subject': () => made(header, { ...claims, sub: '1' }),
    'no jti': () => made(header, { ...claims, jti: undefined }),
    'an end that has passed': () => made(header, { ...claims, iat: now() - 100, exp: now() - 60 }),
    'no end': () => made(header, { ...claims, exp: undefined }),
    'no beginning': () => made(header, { ...claims, iat: undefined }),
    'a beginning in the future': () => made(header, { ...claims, iat: now() + 60, exp: now() + 12 * HOURS }),
    'not before tomorrow': () => made(header, { ...claims, nbf: now() + 24 * HOURS }),
    'a far end for an old token': () => made(header, { ...claims, iat: now() - 13 * HOURS, exp: now() + 1000 * HOURS }),
    'another password version': () => made(header, { ...claims, pwv: '00000000' }),
    'the version of no password': () => made(header, { ...claims, pwv: 'open' }),
    'no password version': () => made(header, { ...claims, pwv: undefined }),
    'other claims under the old signature': () => `${h()}.${part({ ...claims, exp: now() + 1e6 })}.${s()}`,
    'a signature cut short': () => genuine.slice(0, -4),
    'one bit of the signature': () => `${h()}.${p()}.${s().startsWith('A') ? 'B' : 'A'}${s().slice(1)}`,
    'two dots': () => '..',
    'five parts': () => `${genuine}.x.y`,
    'claims that are a list': () => made(header, [claims]),
    'a huge one': () => made({ ...header, pad: 'x'.repeat(5000) }, claims),
    'two of them': () => `${genuine}, ${genuine}`,
  }
  it.each(Object.keys(forgeries))('with %s is refused', async (name) => {
    const response = await t.fetch('/api/keys', { headers: bearer((forgeries[name] as () => string)()) })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await errorOf(response)).toMatchObject({ status: 401, type: 'authentication_error', code: 'invalid_credentials' })
  })

  it('stands in the Authorization header and nowhere else', async () => {
    for (const query of ['token', 'access_token', 'key', 'authorization', 'bearer'])
      expect((await t.fetch(`/api/keys?${query}=${genuine}`)).status, query).toBe(401)
    const elsewhere: Record<string, string>[] = [
      { 'x-api-key': genuine },
      { cookie: `token=${genuine}` },
      { authorization: `Basic ${genuine}` },
    ]
    for (const headers of elsewhere) expect((await t.fetch('/api/keys', { headers })).status).toBe(401)
    expect((await t.fetch('/api/keys', { headers: { authorization: `bearer   ${genuine}` } })).status).toBe(200)
  })

  it('opens no data plane', async () => {
    const ask = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }
    const strict = await securedGateway({ env: { JWT_SECRET: SECRET, REQUIRE_API_KEY: 'true' } })
    const response = await strict.post('/v1/chat/completions', ask, bearer(await sessionOf(strict)))
    expect(response.status).toBe(401)
    await strict.close()
  })

  it('ends after twelve hours', async () => {
    const token = await sessionOf(t)
    clock.jump(12 * HOURS * 1000 + 4000)
    expect(await status(token)).toBe(200)
    clock.jump(2000)
    expect(await status(token)).toBe(401)
  })
})

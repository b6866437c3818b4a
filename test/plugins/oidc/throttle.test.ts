// Failed sign-ins with the identity provider are limited like all others, over the replicas.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { errorOf } from '../sign-in/support.ts'
import { type FakeIssuer, fakeIssuer, signingKey } from './fake-issuer.ts'
import { type OidcWorld, oidcWorld } from './support.ts'

let issuer: FakeIssuer
let t: OidcWorld
const clock = fakeClock()
beforeAll(async () => {
  issuer = await fakeIssuer(await signingKey('k1'))
  issuer.now = () => clock.now()
  t = await oidcWorld(issuer, { ports: { clock } })
})
afterEach(() => clock.advance('1m'))
afterAll(async () => {
  await t.close()
  await issuer.close()
})

const from = (address: string) => ({ 'x-forwarded-for': address })
const invented = (headers: Record<string, string>) => t.callback({ code: 'x', state: 'y'.repeat(43) }, '', headers)
const times = async (count: number, call: () => Promise<Response>) => {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await call()).status)
  return statuses
}

describe('failed sign-ins', () => {
  it('are refused after 20 of one address, until the minute ends; its next start, too', async () => {
    const here = from('198.51.100.1')
    expect(await times(20, () => invented(here))).toEqual(Array(20).fill(400))
    const refused = await invented(here)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' })
    expect((await t.start('/', here)).response.status).toBe(429)
    expect((await t.start('/', from('198.51.100.2'))).response.status).toBe(302)
    await clock.advance('1m')
    expect((await t.start('/', here)).response.status).toBe(302)
  })

  it('share a strict limit where no address is known', async () => {
    const unknown = () => t.fetch(`/api/auth/oidc/callback?code=x&state=${'y'.repeat(43)}`)
    expect(await times(6, unknown)).toEqual([400, 400, 400, 400, 400, 429])
  })

  it('do not include those that succeed, nor starts', async () => {
    const here = from('198.51.100.3')
    expect(await times(25, async () => (await t.start('/', here)).response)).toEqual(Array(25).fill(302))
    expect(await times(22, () => t.signIn(here))).toEqual(Array(22).fill(302))
  })

  it('send a browser to the page that says so', async () => {
    const here = { ...from('198.51.100.4'), accept: 'text/html' }
    await times(20, () => invented(here))
    expect((await invented(here)).headers.get('location')).toMatch(/#error=rate_limited$/)
  })
})

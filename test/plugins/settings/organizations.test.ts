// Settings that organizations change for themselves: closed list, precedence, roles, and the requests that they apply to.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { pin } from '../../../core/config/define.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { connected } from '../../support/own-connection.ts'
import { as, bearer, openTenants, type Session, signUp } from '../organizations/support.ts'

/** Everything else belongs to the gateway: it would change the host, the network, prices, or the limits of others. */
const MAY_DIFFER = [
  'cache_injection.enabled',
  'cache_injection.ttl',
  'compact.model',
  'exact_cache.ttl_ms',
  'guardrails.',
  'reasoning_replay.enabled',
  'request_log.bodies',
  'routing.account_rotation',
  'routing.quality_tiebreak',
  'semantic_cache.enabled',
  'semantic_cache.threshold',
  'shadow.opt_out',
  'think_tags.models',
  'token_saver.caveman_level',
  'token_saver.disabled_filters',
  'token_saver.filters_enabled',
  'token_saver.ponytail_level',
]

type Sources = Record<string, { source: string; pinned: boolean; scope: string }>
interface Error {
  error: { code: string | null; param: string | null; message: string }
}

let t: TestGateway
let db: Db
const look = definePlugin({
  name: 'look',
  setup(gateway) {
    db = gateway.db
  },
})
/** The organizations that have stored settings. */
const owners = async () =>
  (await db.all<{ org_id: number }>(sql`SELECT DISTINCT org_id FROM settings`)).map(({ org_id }) => org_id)
let root: Session
let ann: Session
let bob: Session
const orgOf = ({ org }: Session): number => org?.id as number
const put = <T = Record<string, unknown>>(session: Session, body: unknown) => as(t, session)<T>('PUT', '/api/settings', body)
const valueFor = async (session: Session, group: string, name: string) =>
  ((await as(t, session)('GET', '/api/settings')).body[group] as Record<string, unknown>)[name]
const sources = async (session: Session) => (await as(t, session)<Sources>('GET', '/api/settings/sources')).body

async function clientOf(session: Session): Promise<(content: string) => Promise<Response>> {
  await connected(t, orgOf(session))
  const { key } = (await as(t, session)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body
  const body = (content: string) => ({ model: 'chat/m', messages: [{ role: 'user', content }] })
  return (content) => t.post('/v1/chat/completions', body(content), bearer(key))
}

let fromAnn: (content: string) => Promise<Response>
let fromBob: (content: string) => Promise<Response>
beforeAll(async () => {
  t = await openTenants({
    env: { ADMIN_EMAILS: 'root@corp.example' },
    plugins: [look()],
    config: { settings: { 'cache_injection.ttl': pin('1h') } },
  })
  root = await signUp(t, 'root@corp.example')
  ann = await signUp(t, 'ann@acme.example')
  bob = await signUp(t, 'bob@other.example')
  root = (await as(t, root)<Session>('POST', '/api/auth/switch', { org_id: null })).body
  fromAnn = await clientOf(ann)
  fromBob = await clientOf(bob)
})
afterAll(() => t.close())

describe('settings of an organization', () => {
  it('are a closed list', async () => {
    const differing = Object.entries(await sources(root)).filter(([, { scope }]) => scope === 'organization')
    const names = new Set(differing.map(([key]) => (key.startsWith('guardrails.') ? 'guardrails.' : key)))
    expect([...names].sort()).toEqual(MAY_DIFFER)
  })

  it('come after the gateway’s, and null inherits them again', async () => {
    await put(root, { 'exact_cache.ttl_ms': 1000 })
    expect((await sources(ann))['exact_cache.ttl_ms']).toMatchObject({ source: 'runtime' })
    await put(ann, { 'exact_cache.ttl_ms': 5000 })
    expect((await sources(ann))['exact_cache.ttl_ms']).toMatchObject({ source: 'organization' })
    const all = async () => [root, ann, bob].map((session) => valueFor(session, 'exact_cache', 'ttl_ms'))
    expect(await Promise.all(await all())).toEqual([1000, 5000, 1000])
    await put(root, { 'exact_cache.ttl_ms': 2000 })
    expect(await Promise.all(await all())).toEqual([2000, 5000, 2000])
    await put(ann, { 'exact_cache.ttl_ms': null })
    expect(await Promise.all(await all())).toEqual([2000, 2000, 2000])
    await put(root, { 'exact_cache.ttl_ms': null })
  })

  it('do not include those of the gateway, whatever else the change holds', async () => {
    const refused = await put<Error>(ann, { 'request_log.bodies': true, 'breaker.cooldown_secs': 1 })
    expect(refused).toMatchObject({ status: 403, body: { error: { param: 'breaker.cooldown_secs' } } })
    expect(await valueFor(ann, 'request_log', 'bodies')).toBe(false)
    expect(await put<Error>(ann, { 'email.api_url': 'https://x.example' })).toMatchObject({ status: 403 })
    expect(await put<Error>(ann, { 'no.such': 1 })).toMatchObject({ status: 400, body: { error: { param: 'no.such' } } })
    expect(await put<Error>(ann, { 'exact_cache.ttl_ms': 'x' })).toMatchObject({
      status: 400,
      body: { error: { param: 'exact_cache.ttl_ms' } },
    })
    expect(await put<Error>(ann, { 'cache_injection.ttl': '5m' })).toMatchObject({
      status: 409,
      body: { error: { code: 'managed_by_config' } },
    })
    expect(Object.keys(await sources(ann))).not.toContain('email.api_url')
  })

  it('are read by members and changed by administrators', async () => {
    const member = { email: 'mia@acme.example', password: 'correct horse battery staple', org_id: orgOf(ann), role: 'member' }
    expect((await as(t, root)('POST', '/api/users', member)).status).toBe(201)
    const mia = (await (await t.post('/api/auth/login', { email: member.email, password: member.password })).json()) as Session
    expect((await as(t, mia)('GET', '/api/settings')).status).toBe(200)
    expect((await put(mia, { 'request_log.bodies': true })).status).toBe(403)
    expect((await put(ann, { 'request_log.bodies': true })).status).toBe(200)
    expect(await valueFor(mia, 'request_log', 'bodies')).toBe(true)
    await put(ann, { 'request_log.bodies': null })
  })

  it('apply to requests of this organization only', async () => {
    await put(ann, { 'exact_cache.ttl_ms': 60_000 })
    const cached: (string | null)[] = []
    for (const ask of [fromAnn, fromAnn, fromBob, fromBob]) {
      t.upstream.push(text('one'))
      cached.push((await ask('the same question')).headers.get('x-gateway-cache'))
    }
    expect(cached).toEqual(['miss', 'hit', 'miss', 'miss'])
    await put(ann, { 'exact_cache.ttl_ms': null })
  })
})

describe('guardrail policies', () => {
  const blocked = async (answer: Promise<Response>) => {
    const { status } = await answer
    expect([200, 400]).toContain(status)
    return status === 400
  }
  const words = (mode: string, ...deny: string[]) => ({ guardrails: { enabled: true, keywords: { mode, deny } } })
  const off = { guardrails: { enabled: null, keywords: { mode: null, deny: null } } }
  const verdicts = async (content: string) => {
    t.upstream.push(text('one'), text('two'))
    return [await blocked(fromAnn(content)), await blocked(fromBob(content))]
  }

  it('of an organization apply to its requests only', async () => {
    await put(ann, words('block', 'tulip'))
    expect(await verdicts('a tulip please')).toEqual([true, false])
    expect(await verdicts('a rose please')).toEqual([false, false])
    await put(ann, off)
    expect(await verdicts('a tulip please')).toEqual([false, false])
  })

  it('of the gateway apply to everyone, also where an organization sets something weaker', async () => {
    await put(root, words('block', 'orchid'))
    expect(await verdicts('an orchid')).toEqual([true, true])
    for (const weaker of [words('block', 'tulip'), words('log', 'orchid'), { 'guardrails.enabled': false }]) {
      await put(ann, weaker)
      expect(await verdicts('an orchid')).toEqual([true, true])
    }
    await put(ann, words('block', 'tulip'))
    expect(await verdicts('a tulip')).toEqual([true, false])
    await put(ann, off)
    await put(root, off)
  })

  it('of an organization can free a key from its own rules, not from the gateway’s', async () => {
    await put(root, words('block', 'orchid'))
    await put(ann, words('block', 'tulip'))
    const key = { label: 'exempt', guardrails_exempt: true }
    const { key: exempt } = (await as(t, ann)<{ key: string }>('POST', '/api/keys', key)).body
    const ask = (content: string) =>
      t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content }] }, bearer(exempt))
    t.upstream.push(text('one'), text('two'))
    expect([await blocked(ask('a tulip')), await blocked(ask('an orchid'))]).toEqual([false, true])
    await put(ann, off)
    await put(root, off)
  })
})

describe('the settings of a deleted organization', () => {
  it('are gone', async () => {
    await put(bob, { 'token_saver.filters_enabled': true })
    expect(await owners()).toContain(orgOf(bob))
    expect((await as(t, root)('DELETE', `/api/orgs/${orgOf(bob)}`, { confirm: bob.org?.name })).status).toBe(200)
    expect(await owners()).not.toContain(orgOf(bob))
  })
})

// Settings that gateway.config.ts gives to an organization, and settings of an organization in its export.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { pin } from '../../../core/config/define.ts'
import { as, openTenants, type Session, signUp } from './support.ts'

type Sources = Record<string, { source: string; pinned: boolean }>
interface Document {
  rows: Record<string, { name: string; data: Record<string, unknown> }[]>
}

const organizations = {
  acme: {
    name: 'Acme',
    admins: ['ann@acme.example'],
    settings: { exact_cache: { ttl_ms: 5000 }, 'request_log.bodies': true, 'cache_injection.ttl': '5m' as const },
  },
}
const settings = { 'cache_injection.ttl': pin('1h' as const) }

let t: TestGateway
let root: Session
let ann: Session
let bob: Session
beforeAll(async () => {
  t = await openTenants({ env: { ADMIN_EMAILS: 'root@corp.example' }, config: { organizations, settings } })
  root = await signUp(t, 'root@corp.example')
  bob = await signUp(t, 'bob@other.example')
  await signUp(t, 'ann@acme.example')
  const { orgs } = await me()
  const acme = orgs.find(({ name }) => name === 'Acme')?.id
  ann = (await as(t, root)<Session>('POST', '/api/auth/switch', { org_id: acme })).body
})
afterAll(() => t.close())

async function me(): Promise<{ orgs: { id: number; name: string }[] }> {
  return { orgs: (await as(t, root)<{ data: { id: number; name: string }[] }>('GET', '/api/orgs')).body.data }
}
const valueFor = async (session: Session, group: string, name: string) =>
  ((await as(t, session)('GET', '/api/settings')).body[group] as Record<string, unknown>)[name]
const sourceFor = async (session: Session, key: string) =>
  (await as(t, session)<Sources>('GET', '/api/settings/sources')).body[key]

it('holds for this organization, and neither it nor the operator changes it', async () => {
  expect(await valueFor(ann, 'exact_cache', 'ttl_ms')).toBe(5000)
  expect(await valueFor(bob, 'exact_cache', 'ttl_ms')).not.toBe(5000)
  expect(await sourceFor(ann, 'exact_cache.ttl_ms')).toMatchObject({ source: 'config', pinned: true })
  const refused = await as(t, ann)<{ error: { code: string; message: string } }>('PUT', '/api/settings', {
    'exact_cache.ttl_ms': 1,
  })
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'managed_by_config' } } })
  expect(refused.body.error.message).toContain('for this organization')
  expect((await as(t, bob)('PUT', '/api/settings', { 'exact_cache.ttl_ms': 7000 })).status).toBe(200)
  expect((await as(t, ann)('PUT', '/api/settings', { 'think_tags.models': ['a/*'] })).status).toBe(200)
  expect([await valueFor(ann, 'exact_cache', 'ttl_ms'), await valueFor(bob, 'exact_cache', 'ttl_ms')]).toEqual([5000, 7000])
})

it('comes after a value that the file pins for the whole gateway', async () => {
  expect(await valueFor(ann, 'cache_injection', 'ttl')).toBe('1h')
})

it('follows a reload of the file', async () => {
  const changed = { acme: { ...organizations.acme, settings: { 'exact_cache.ttl_ms': 6000 } } }
  await t.gateway.reload({ organizations: changed, settings })
  expect(await valueFor(ann, 'exact_cache', 'ttl_ms')).toBe(6000)
  expect(await valueFor(ann, 'request_log', 'bodies')).toBe(false)
  await t.gateway.reload({ organizations: { acme: { name: 'Acme' } }, settings })
  expect(await sourceFor(ann, 'exact_cache.ttl_ms')).toMatchObject({ pinned: false })
  await t.gateway.reload({ organizations, settings })
  expect(await valueFor(ann, 'exact_cache', 'ttl_ms')).toBe(5000)
})

it.each([
  [{ 'no.such': 1 }, 'organizations.acme.settings.no.such: There is no setting `no.such`.'],
  [
    { 'breaker.cooldown_secs': 1 },
    'organizations.acme.settings.breaker.cooldown_secs: `breaker.cooldown_secs` is a setting of the',
  ],
  [{ exact_cache: { ttl_ms: 'soon' } }, 'organizations.acme.settings.exact_cache.ttl_ms: '],
  [JSON.parse('{"__proto__": {"x": 1}}'), 'organizations.acme.settings.__proto__: There is no setting `__proto__`.'],
  [pin(3), 'organizations.acme.settings: `pin()` is not possible here'],
  [{ 'exact_cache.ttl_ms': pin(5) }, 'organizations.acme.settings.exact_cache.ttl_ms: `pin()` is not possible here'],
  [{ guardrails: 'strict' }, 'organizations.acme.settings.guardrails: '],
])('refuses a file with %o', async (given, message) => {
  await expect(
    t.gateway.reload({ organizations: { acme: { ...organizations.acme, settings: given as never } }, settings }),
  ).rejects.toThrow(message)
  expect(await valueFor(ann, 'exact_cache', 'ttl_ms')).toBe(5000)
})

it('exports the values that an organization stored, and imports them into another', async () => {
  const inside = async (session: Session, method: string, path: string, body: unknown) => {
    const response = await as(t, session)<Document & { data: unknown[] }>(method, path, body)
    expect(response).toMatchObject({ status: 200 })
    return response.body
  }
  await inside(bob, 'PUT', '/api/settings', { 'exact_cache.ttl_ms': 7000, 'request_log.bodies': true })
  const orgs = (await me()).orgs
  const enter = async (name: string) =>
    (await as(t, root)<Session>('POST', '/api/auth/switch', { org_id: orgs.find((org) => org.name === name)?.id })).body
  const other = orgs.find(({ name }) => !['Acme', root.org?.name].includes(name) && name === bob.org?.name)?.name as string
  const exported = await inside(await enter(other), 'POST', '/api/export', {})
  expect(exported.rows.settings).toEqual([
    { name: 'exact_cache.ttl_ms', data: { key: 'exact_cache.ttl_ms', value: 7000 } },
    { name: 'request_log.bodies', data: { key: 'request_log.bodies', value: true } },
  ])
  const own = await enter(root.org?.name as string)
  await inside(own, 'POST', '/api/import', { document: exported })
  expect(await valueFor(own, 'exact_cache', 'ttl_ms')).toBe(7000)
  expect(await sourceFor(own, 'exact_cache.ttl_ms')).toMatchObject({ source: 'organization' })
  const refused = await as(t, await enter('Acme'))<{ error: { code: string } }>('POST', '/api/import', { document: exported })
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'managed_by_config' } } })
})

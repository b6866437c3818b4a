// /api/settings: one document over default, file, environment, API.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { pin } from '../../../core/config/define.ts'
import { errorOf } from '../keys/support.ts'
import { DEFAULTS, type Knobs, knobs } from './support.ts'

interface Site extends Knobs {
  t: TestGateway
  get(key: string): unknown
  put(body: unknown): Promise<Response>
  /** The whole document, and the source of each value. */
  document(): Promise<unknown>
  sources(): Promise<Record<string, { source: string; pinned: boolean }>>
}

const open: TestGateway[] = []
afterEach(async () => {
  for (const t of open.splice(0)) await t.close()
})

async function site(options: TestGatewayOptions = {}): Promise<Site> {
  const made = knobs()
  const t = await createTestGateway({ ...options, plugins: [made.plugin] })
  open.push(t)
  const json = async (path: string) => (await t.fetch(path)).json()
  return {
    ...made,
    t,
    put: (body) =>
      t.fetch('/api/settings', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    document: () => json('/api/settings') as Promise<unknown>,
    sources: () => json('/api/settings/sources') as Promise<Record<string, { source: string; pinned: boolean }>>,
  }
}

/** What other built-in plugins declare is not looked at. */
const ours = (document: unknown): unknown =>
  Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, (document as Record<string, unknown>)[key]]))

describe('/api/settings', () => {
  it('shows every declared setting with its default, nested, and where each value comes from', async () => {
    const s = await site({
      env: { LIVE_EVENT_BUFFER: '64' },
      config: { settings: { 'cache.ttl': '1h', access_log: { bodies: pin(true) } } },
    })
    expect(ours(await s.document())).toEqual({
      ...DEFAULTS,
      buffer: { size: 64 },
      cache: { ttl: '1h' },
      access_log: { bodies: true, sample: 1 },
    })
    expect(await s.sources()).toMatchObject({
      'buffer.size': { source: 'env', pinned: false },
      'cache.ttl': { source: 'config', pinned: false },
      'access_log.bodies': { source: 'config', pinned: true },
      'access_log.sample': { source: 'default', pinned: false },
    })
  })

  it('takes nested and dotted keys alike, and leaves the rest as it was', async () => {
    const s = await site()
    const nested = await s.put({ access_log: { bodies: true }, 'buffer.size': 8 })
    expect(nested.status).toBe(200)
    expect(ours(await nested.json())).toEqual({ ...DEFAULTS, access_log: { bodies: true, sample: 1 }, buffer: { size: 8 } })
    await s.put({ 'access_log.sample': 0.5 })
    expect(ours(await s.document())).toMatchObject({ access_log: { bodies: true, sample: 0.5 } })
    expect(s.get('access_log.bodies')).toBe(true)
    expect((await s.sources())['access_log.bodies']).toEqual({
      source: 'runtime',
      pinned: false,
      scope: 'gateway',
    })
    expect((await s.put({})).status).toBe(200)
  })

  it('a stored setting wins over environment and file, and null gives it back to them', async () => {
    const s = await site({ env: { LIVE_EVENT_BUFFER: '64' }, config: { settings: { 'cache.ttl': '1h' } } })
    await s.put({ buffer: { size: 5 }, cache: { ttl: '5m' } })
    expect([s.get('buffer.size'), s.get('cache.ttl')]).toEqual([5, '5m'])
    await s.put({ buffer: { size: null }, 'cache.ttl': null, 'access_log.sample': null })
    expect([s.get('buffer.size'), s.get('cache.ttl'), s.get('access_log.sample')]).toEqual([64, '1h', 1])
    expect((await s.sources())['buffer.size']?.source).toBe('env')
  })

  it('merges into a setting that is an object: members given change, null takes one away, a path leads inside', async () => {
    const s = await site()
    await s.put({ clients: { a: { id: '1' }, b: { id: '2', scopes: ['x'] } } })
    await s.put({ clients: { b: { scopes: ['y'] } }, 'clients.c.id': '3', 'clients.c.scopes': [] })
    expect(s.get('clients')).toEqual({ a: { id: '1', scopes: [] }, b: { id: '2', scopes: ['y'] }, c: { id: '3', scopes: [] } })
    await s.put({ clients: { a: null }, reviewers: ['ann', 'bo'] })
    await s.put({ reviewers: ['cy'] })
    expect(Object.keys(s.get('clients') as object)).toEqual(['b', 'c'])
    expect(s.get('reviewers')).toEqual(['cy'])
    expect(await errorOf(await s.put({ clients: { b: { id: 4 } } }))).toMatchObject({ status: 400, param: 'clients.b.id' })
  })

  const wrong: [string, unknown, string][] = [
    ['an unknown key', { nothing: 1 }, 'nothing'],
    ['an unknown member of a group', { access_log: { body: true } }, 'access_log.body'],
    ['an unknown dotted key', { 'access_log.body': true }, 'access_log.body'],
    ['a wrong type', { access_log: { bodies: 'yes' } }, 'access_log.bodies'],
    ['a number out of range', { 'access_log.sample': 2 }, 'access_log.sample'],
    ['a word that is none of the enum', { cache: { ttl: '2h' } }, 'cache.ttl'],
    ['a group that is no object', { access_log: true }, 'access_log'],
    ['a group that is null', { access_log: null }, 'access_log'],
    ['a wrong element of a list', { reviewers: ['a', 1] }, 'reviewers.1'],
    ['a member nobody declared inside an object', { clients: { a: { id: '1', key: 'x' } } }, 'clients.a.key'],
    ['a setting given twice', { 'access_log.bodies': true, access_log: { bodies: false } }, 'access_log.bodies'],
    ['a prototype', '{"__proto__": {"polluted": true}}', '__proto__'],
    ['a prototype in a group', '{"access_log": {"__proto__": {"polluted": true}}}', 'access_log.__proto__'],
    ['a constructor', { constructor: { prototype: { polluted: true } } }, 'constructor'],
    ['a dotted prototype', { '__proto__.polluted': true }, '__proto__.polluted'],
    ['an SQL text for a key', { "'; DROP TABLE settings; --": 1 }, "'; DROP TABLE settings; --"],
    ['an empty key', { '': 1 }, ''],
  ]
  for (const [name, body, param] of wrong) {
    it(`answers ${name} with 400 and the dotted path, and changes nothing`, async () => {
      const s = await site()
      const both =
        typeof body === 'string' ? body.replace('{', '{"buffer": {"size": 9},') : { buffer: { size: 9 }, ...(body as object) }
      expect(await errorOf(await s.put(both))).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        param,
      })
      expect(ours(await s.document())).toEqual(DEFAULTS)
      expect(s.told).toEqual([])
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    })
  }

  it('keeps a prototype inside an object setting out of every object', async () => {
    const s = await site()
    await s.put('{"clients": {"__proto__": {"id": "1", "polluted": true}, "constructor": {"id": "2"}}}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(Object.getPrototypeOf(s.get('clients'))).toBe(Object.prototype)
    expect((await s.put([])).status).toBe(400)
    expect((await s.put('null')).status).toBe(400)
  })

  it('refuses a pinned setting with 409 that names the file, and the others with it', async () => {
    const s = await site({ config: { settings: { 'access_log.bodies': pin(false) } } })
    const error = await errorOf(await s.put({ access_log: { sample: 0, bodies: true } }))
    expect(error).toMatchObject({ status: 409, code: 'managed_by_config' })
    expect(error.message).toMatch(/gateway\.config\.ts.*access_log\.bodies/)
    expect((await errorOf(await s.put({ 'access_log.bodies': null }))).status).toBe(409)
    expect(ours(await s.document())).toEqual(DEFAULTS)
  })

  it('tells watchers once for each value that changed', async () => {
    const s = await site()
    await s.put({ access_log: { bodies: true, sample: 1 } })
    await s.put({ access_log: { bodies: true } })
    await s.put({ 'access_log.bodies': null })
    expect(s.told).toEqual([
      ['access_log.bodies', true],
      ['access_log.bodies', false],
    ])
  })

  it('needs someone who administers the whole gateway', async () => {
    const s = await site()
    const call = (role: 'member' | 'manage' | 'system') =>
      s.t.gateway.control.fetch(
        new Request('http://gateway.test/api/settings', {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: '{"buffer":{"size":2}}',
        }),
        {
          address: '127.0.0.1',
          local: true,
          secure: false,
          operator: { actor: 'x', orgId: 4, role, readOnly: false, auth: 'host' },
        },
      )
    expect([(await call('member')).status, (await call('manage')).status, (await call('system')).status]).toEqual([403, 403, 200])
  })

  it('property: any document is a 200 that holds what it says, or a 400 that changed nothing', async () => {
    const s = await site()
    const value = fc.oneof(fc.boolean(), fc.integer({ min: -1, max: 3 }), fc.constantFrom('5m', '1h', null), fc.jsonValue())
    const key = fc.constantFrom(
      'access_log.bodies',
      'access_log.sample',
      'buffer.size',
      'cache.ttl',
      'reviewers',
      'clients',
      'a.b',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.oneof({ arbitrary: key, weight: 9 }, fc.string()), value, { maxKeys: 3 }),
        async (body) => {
          const before = await s.document()
          const response = await s.put(body)
          if (response.status !== 200) {
            expect(response.status).toBe(400)
            expect(await s.document()).toEqual(before)
            return
          }
          for (const [path, said] of Object.entries(body))
            if (said !== null && path !== 'clients') expect(s.get(path)).toEqual(said)
        },
      ),
      { numRuns: 150, seed: 4 },
    )
    expect((await s.t.fetch('/api/keys')).status).toBe(200)
  })
})

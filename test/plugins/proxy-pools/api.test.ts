// /api/proxy-pools: input, output, and who may see it.
import { afterEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { closedPort } from '../../../adapters/testing/network-faults.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { call, MASTER_KEY } from '../connections/support.ts'
import { addressOf, answering, assign, connection, type Pool, pool, send, type World, world } from './support.ts'

let t: World
afterEach(() => t.close())

const list = async () => ((await (await t.fetch('/api/proxy-pools')).json()) as { data: Pool[] }).data
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error

describe('a proxy pool', () => {
  it('is made, changed and removed, and its password never comes out', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    t = await world({ ports: { db } })
    const url = 'socks5://user:canary-pass@10.0.0.7:1080'
    const made = await pool(t, { name: ' exit ', proxy_url: url })
    expect(made).toMatchObject({
      name: 'exit',
      proxy_url: 'socks5://user:***@10.0.0.7:1080',
      no_proxy: '',
      enabled: true,
      strict: false,
      assigned_connections: [],
      last_test: null,
    })
    const changed = await call(t, 'PUT', `/api/proxy-pools/${made.id}`, { strict: true, no_proxy: 'a.example,.b.example' })
    expect(await changed.json()).toMatchObject({ name: 'exit', strict: true, no_proxy: 'a.example,.b.example' })
    const token = await pool(t, { proxy_url: 'http://canary-token@10.0.0.8:3128' })
    expect(token.proxy_url).toBe('http://***@10.0.0.8:3128')
    const everywhere = [
      await list(),
      await (await t.fetch('/api/audit')).json(),
      await db.all(sql`SELECT * FROM proxy_pools`),
      await db.all(sql`SELECT * FROM audit_log`),
    ]
    expect(JSON.stringify(everywhere)).not.toContain('canary')
    const actions = ((await (await t.fetch('/api/audit')).json()) as { data: { action: string }[] }).data
    expect(actions.map(({ action }) => action)).toEqual(expect.arrayContaining(['proxy.create', 'proxy.update']))
    expect((await call(t, 'DELETE', `/api/proxy-pools/${made.id}`)).status).toBe(200)
    expect((await list()).map(({ id }) => id)).toEqual([token.id])
    expect((await call(t, 'PUT', `/api/proxy-pools/${made.id}`, { strict: false })).status).toBe(404)
  })

  it('is refused with the field that is wrong', async () => {
    t = await world()
    const bad: [Record<string, unknown>, string][] = [
      [{ proxy_url: 'file:///etc/passwd' }, 'proxy_url'],
      [{ proxy_url: 'gopher://127.0.0.1:70' }, 'proxy_url'],
      [{ proxy_url: 'direct' }, 'proxy_url'],
      [{ proxy_url: 'http://169.254.169.254' }, 'proxy_url'],
      [{ proxy_url: 'socks5://metadata.google.internal:80' }, 'proxy_url'],
      [{ proxy_url: 'http://user:***@10.0.0.1:8080' }, 'proxy_url'],
      [{ proxy_url: 'http://p:1', no_proxy: 'a b' }, 'no_proxy'],
      [{ proxy_url: 'http://p:1', name: ' ' }, 'name'],
      [{ proxy_url: 'http://p:1', colour: 1 }, 'colour'],
      [{}, 'proxy_url'],
    ]
    for (const [body, param] of bad) {
      const response = await call(t, 'POST', '/api/proxy-pools', { name: 'x', ...body })
      expect([response.status, (await errorOf(response)).param], JSON.stringify(body)).toEqual([400, param])
    }
    expect(await list()).toEqual([])
  })

  it('on the cloud profile leads nowhere inside', async () => {
    t = await world({ env: { PROFILE: 'cloud', MASTER_KEY } })
    for (const proxy_url of ['http://127.0.0.1:3128', 'socks5://10.1.2.3:1080', 'http://[::1]:1'])
      expect((await call(t, 'POST', '/api/proxy-pools', { name: 'x', proxy_url })).status, proxy_url).toBe(400)
    expect((await call(t, 'POST', '/api/proxy-pools', { name: 'x', proxy_url: 'http://93.184.215.14:3128' })).status).toBe(201)
  })

  it('that connections are assigned to is removed by force only; one that was removed is not in the way', async () => {
    t = await world()
    const exit = await pool(t, { proxy_url: 'http://10.0.0.1:1' })
    const { id } = await connection(t)
    await assign(t, exit.id, id)
    expect((await list())[0]?.assigned_connections).toEqual([id])
    const refused = await call(t, 'DELETE', `/api/proxy-pools/${exit.id}`)
    expect([refused.status, (await errorOf(refused)).code]).toEqual([409, 'in_use'])
    await call(t, 'DELETE', `/api/providers/${id}`)
    expect((await list())[0]?.assigned_connections).toEqual([])
    expect((await call(t, 'DELETE', `/api/proxy-pools/${exit.id}`)).status).toBe(200)
  })

  it('of another organization is not there, and neither is its connection (T1)', async () => {
    t = await world()
    const stranger: Operator = { actor: 'user:2', orgId: 7, role: 'manage', readOnly: false, auth: 'token' }
    const asStranger = (method: string, path: string, body?: unknown) =>
      t.gateway.control.fetch(
        new Request(`http://gateway.test${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
        { address: null, local: true, secure: true, operator: stranger },
      )
    const mine = await pool(t, { proxy_url: 'http://10.0.0.1:1' })
    const myConnection = (await connection(t)).id
    const theirs = (await (
      await asStranger('POST', '/api/proxy-pools', { name: 'x', proxy_url: 'http://10.0.0.2:1' })
    ).json()) as Pool
    const theirConnection = await asStranger('POST', '/api/providers', { provider: 'echo' })
    const theirId = ((await theirConnection.json()) as { id: number }).id
    expect(((await (await asStranger('GET', '/api/proxy-pools')).json()) as { data: Pool[] }).data.map(({ id }) => id)).toEqual([
      theirs.id,
    ])
    expect((await list()).map(({ id }) => id)).toEqual([mine.id])
    const unknown = [
      asStranger('PUT', `/api/proxy-pools/${mine.id}`, { strict: true }),
      asStranger('DELETE', `/api/proxy-pools/${mine.id}?force=true`),
      asStranger('POST', `/api/proxy-pools/${mine.id}/test`),
      asStranger('POST', '/api/proxy-pools/assign', { proxy_id: mine.id, connection_id: theirId }),
      asStranger('POST', '/api/proxy-pools/assign', { proxy_id: theirs.id, connection_id: myConnection }),
      asStranger('POST', '/api/proxy-pools/assign', { proxy_id: null, connection_id: myConnection }),
      call(t, 'PUT', `/api/proxy-pools/${theirs.id}`, { strict: true }),
      assign(t, theirs.id, myConnection),
      assign(t, mine.id, theirId),
    ]
    for (const response of await Promise.all(unknown))
      expect([response.status, (await errorOf(response)).code]).toEqual([404, 'not_found'])
    expect((await list())[0]).toMatchObject({ strict: false, assigned_connections: [] })
  })

  it('whose stored URL was altered fails strict calls and lets the others go', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    t = await world({ ports: { db } })
    const exit = await pool(t, { proxy_url: 'http://10.0.0.1:1', strict: true })
    const { id } = await connection(t)
    await assign(t, exit.id, id)
    await db.run(sql`UPDATE proxy_pools SET proxy_url = 'v1.junk'`)
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { name: 'reload' })
    expect((await list())[0]?.proxy_url).toBeNull()
    expect((await send(t)).status).toBe(502)
    expect((await call(t, 'POST', `/api/proxy-pools/${exit.id}/test`)).status).toBe(409)
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { strict: false })
    expect((await send(t)).status).toBe(200)
  })
})

describe('a test', () => {
  it('says how long it took and which address was seen, and is kept', async () => {
    const echo = await answering('{"ip":"203.0.113.77"}')
    t = await world({ testUrl: `http://127.0.0.1:${echo.port}/` })
    const proxy = await t.proxy({ credentials: 'user:pass' })
    const exit = await pool(t, { proxy_url: addressOf(proxy, 'user:pass@') })
    const response = await call(t, 'POST', `/api/proxy-pools/${exit.id}/test`)
    expect(response.status).toBe(200)
    const verdict = await response.json()
    expect(verdict).toMatchObject({ ok: true, ip: '203.0.113.77', error: null, latency_ms: expect.any(Number) })
    expect((await list())[0]?.last_test).toEqual(verdict)
    expect(proxy.tunnels).toEqual([`127.0.0.1:${echo.port}`])
    // It carries no credential of a connection.
    expect(echo.requests[0]?.headers.authorization).toBeUndefined()
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { proxy_url: addressOf(proxy, 'user:wrong-canary@') })
    expect((await list())[0]?.last_test).toBeNull()
    const refused = (await (await call(t, 'POST', `/api/proxy-pools/${exit.id}/test`)).json()) as { ok: boolean; error: string }
    expect(refused.ok).toBe(false)
    expect(refused.error).toMatch(/proxy/)
    expect(refused.error).not.toMatch(/canary|127\.0/)
    await echo.close()
  })

  it('of a proxy that is not there, or of an address that refuses, fails', async () => {
    const echo = await answering('no', 403)
    t = await world({ testUrl: `http://127.0.0.1:${echo.port}/` })
    const gone = await pool(t, { proxy_url: `http://127.0.0.1:${await closedPort()}` })
    expect(await (await call(t, 'POST', `/api/proxy-pools/${gone.id}/test`)).json()).toMatchObject({ ok: false, ip: null })
    const proxy = await t.proxy()
    const exit = await pool(t, { proxy_url: addressOf(proxy) })
    expect(await (await call(t, 'POST', `/api/proxy-pools/${exit.id}/test`)).json()).toMatchObject({
      ok: false,
      error: 'The test address answered 403.',
    })
    await echo.close()
  })
})

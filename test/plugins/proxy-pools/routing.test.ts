// The proxy of a call. Precedence: connection.proxy_url, the assigned proxy, OUTBOUND_PROXY, none.
import { afterEach, describe, expect, it } from 'vitest'
import { closedPort } from '../../../adapters/testing/network-faults.ts'
import { text } from '../../../adapters/testing/script.ts'
import { call } from '../connections/support.ts'
import { addressOf, assign, connection, pool, send, type World, world } from './support.ts'

let t: World
afterEach(() => t.close())

const dead = async () => `http://127.0.0.1:${await closedPort()}`

describe('the way of a call', () => {
  it('is the assigned proxy, until it is taken away, disabled or removed', async () => {
    t = await world()
    const proxy = await t.proxy()
    const { id } = await connection(t)
    const exit = await pool(t, { proxy_url: addressOf(proxy), strict: true })
    const through = async () => {
      const before = proxy.tunnels.length
      expect((await send(t)).status).toBe(200)
      // An open tunnel is reused, so the test checks whether the upstream's sockets come from the proxy.
      return { opened: proxy.tunnels.length - before, requests: t.upstream.requests.length }
    }
    expect((await through()).opened).toBe(0)
    expect((await assign(t, exit.id, id)).status).toBe(200)
    expect((await through()).opened).toBe(1)
    await assign(t, null, id)
    // With no proxy at that address any more, only direct calls arrive.
    await proxy.close()
    expect((await send(t)).status).toBe(200)
    await assign(t, exit.id, id)
    expect((await send(t)).status).toBe(502)
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { enabled: false })
    expect((await send(t)).status).toBe(200)
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { enabled: true })
    expect((await send(t)).status).toBe(502)
    expect((await call(t, 'DELETE', `/api/proxy-pools/${exit.id}?force=true`)).status).toBe(200)
    expect((await send(t)).status).toBe(200)
  })

  it('is the connection’s own proxy before any, and `direct` is straight', async () => {
    t = await world()
    const own = await t.proxy()
    const assigned = await t.proxy()
    const { id } = await connection(t, { proxy_url: addressOf(own) })
    await assign(t, (await pool(t, { proxy_url: addressOf(assigned) })).id, id)
    expect((await send(t)).status).toBe(200)
    expect([own.tunnels.length, assigned.tunnels.length]).toEqual([1, 0])
    await call(t, 'PUT', `/api/providers/${id}`, { proxy_url: 'direct' })
    expect((await send(t)).status).toBe(200)
    expect([own.tunnels.length, assigned.tunnels.length]).toEqual([1, 0])
  })

  it('is OUTBOUND_PROXY where nothing is assigned, and the hosts of `no_proxy` are reached straight', async () => {
    const outer = await (await import('../../../adapters/testing/proxies.ts')).connectProxy()
    t = await world({ env: { OUTBOUND_PROXY: addressOf(outer) } })
    const assigned = await t.proxy()
    const { id } = await connection(t)
    expect((await send(t)).status).toBe(200)
    expect(outer.tunnels).toHaveLength(1)
    const exit = await pool(t, { proxy_url: addressOf(assigned), no_proxy: 'example.com, 127.0.0.1' })
    await assign(t, exit.id, id)
    expect((await send(t)).status).toBe(200)
    expect([outer.tunnels.length, assigned.tunnels.length]).toEqual([1, 0])
    await call(t, 'PUT', `/api/proxy-pools/${exit.id}`, { no_proxy: '' })
    expect((await send(t)).status).toBe(200)
    expect([outer.tunnels.length, assigned.tunnels.length]).toEqual([1, 1])
    await outer.close()
  })
})

describe('a proxy that fails', () => {
  it('is passed by once when it is not strict, and the timeline shows both calls', async () => {
    t = await world()
    const { id } = await connection(t)
    await assign(t, (await pool(t, { proxy_url: await dead() })).id, id)
    expect((await send(t)).status).toBe(200)
    expect(t.upstream.requests).toHaveLength(1)
    await t.untilSettled()
    const attempts = t.settled[0]?.ctx.attempts.map(({ status, action, error }) => ({
      status,
      action,
      kind: error?.upstream?.kind,
    }))
    expect(attempts).toEqual([
      { status: 502, action: 'retried', kind: 'proxy' },
      { status: 200, action: 'returned', kind: undefined },
    ])
  })

  it('fails the attempt when it is strict, and the walk goes on to the next account', async () => {
    t = await world({ upstream: [text('from the other')] })
    const first = await connection(t, { api_key: 'sk-first-key' })
    await assign(t, (await pool(t, { proxy_url: await dead(), strict: true })).id, first.id)
    expect((await send(t)).status).toBe(502)
    expect(t.upstream.requests).toHaveLength(0)
    await connection(t, { api_key: 'sk-second-key' })
    const answer = await send(t)
    expect(await answer.text()).toContain('from the other')
    expect(t.upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-second-key'])
  })

  it('is not passed by for what the upstream did, nor for a proxy of the connection’s own', async () => {
    t = await world({ upstream: [{ kind: 'fail', status: 500, message: 'down' }] })
    const proxy = await t.proxy()
    const { id } = await connection(t)
    await assign(t, (await pool(t, { proxy_url: addressOf(proxy) })).id, id)
    expect((await send(t)).status).toBe(500)
    expect(t.upstream.requests).toHaveLength(1)
    await call(t, 'PUT', `/api/providers/${id}`, { proxy_url: await dead() })
    expect((await send(t)).status).toBe(502)
    expect(t.upstream.requests).toHaveLength(1)
  })
})

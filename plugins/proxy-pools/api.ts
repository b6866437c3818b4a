// /api/proxy-pools. Another organization's pool answers 404.
import { z } from 'zod'
import { type AddressRules, checkProxyUrl } from '../../core/config/addresses.ts'
import { conflict } from '../../core/config/owned.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { DirectAnswer, DirectCalls } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { assignBody, createBody, MASK, poolRecord, recordOf, updateBody } from './fields.ts'
import { type Pool, sealedAt } from './pool.ts'
import { assign, deletePool, insertPool, type LastTest, storeTest, storeUrl, updatePool } from './store.ts'

// Tests a proxy: sends one GET through it to an address that returns the caller's address.
const TIMEOUT_MS = 10_000
const ADDRESS = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:{1,2}){2,7}[0-9a-f]{1,4}(?![\w:])/i

async function probeProxy(proxyUrl: string, testUrl: string, calls: DirectCalls, clock: Clock): Promise<LastTest> {
  const started = clock.monotonic()
  const verdict = (error: string | null, ip: string | null = null): LastTest => ({
    ok: error === null,
    latency_ms: Math.round(clock.monotonic() - started),
    ip,
    at: new Date(clock.now()).toISOString(),
    error,
  })
  try {
    const answer = await calls.viaProxy(proxyUrl, testUrl, TIMEOUT_MS)
    if (answer.status < 200 || answer.status > 299) return verdict(`The test address answered ${answer.status}.`)
    return verdict(null, addressIn(answer))
  } catch (error) {
    return verdict(GatewayError.from(error).message)
  }
}

function addressIn({ body }: DirectAnswer): string | null {
  return ADDRESS.exec(new TextDecoder().decode(body.subarray(0, 500)))?.[0] ?? null
}

export function poolRoutes(gateway: PluginGateway, view: View<readonly Pool[]>, testUrl: string): void {
  const { vault, clock } = gateway
  const accounts = gateway.use('accounts')
  const calls = gateway.use('directCalls')
  const rules: AddressRules = { profile: gateway.profile, outbound: gateway.use('outbound') }
  const now = () => clock.now()
  const all = (orgId: number | null) => view.current.filter((pool) => pool.orgId === orgId)
  const find = (orgId: number | null, id: number): Pool => {
    const found = all(orgId).find(({ row }) => row.id === id)
    if (found === undefined) throw notFound(`There is no proxy pool ${id}.`)
    return found
  }
  const lives = (orgId: number | null) => (id: number) =>
    accounts.list().some((account) => account.orgId === orgId && account.connection.id === String(id))
  const shown = (orgId: number | null, id: number) => recordOf(find(orgId, id), lives(orgId))
  const seal = (url: string, id: number, orgId: number | null) => vault.seal(url, sealedAt(id, orgId))

  gateway.api({
    method: 'GET',
    path: '/api/proxy-pools',
    summary: 'Outbound proxies that connections can be assigned to, without their passwords.',
    role: 'member',
    response: z.strictObject({ data: z.array(poolRecord) }),
    handler: ({ orgId }) => ({ data: all(orgId).map((pool) => recordOf(pool, lives(orgId))) }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/proxy-pools',
    summary: 'Adds an outbound proxy.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: poolRecord,
    audit: 'proxy.create',
    async handler({ body: { proxy_url, ...fields }, orgId }) {
      check(proxy_url, rules)
      await vault.prepare(orgId)
      const id = await view.write(async (db) => {
        const created = await insertPool(db, orgId, fields, now())
        await storeUrl(db, orgId, created, await seal(proxy_url, created, orgId))
        return created
      })
      return shown(orgId, id)
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/proxy-pools/assign',
    summary: 'Sends the calls of a connection through a proxy, unless it names one itself.',
    role: 'manage',
    body: assignBody,
    response: assignBody,
    audit: 'proxy.assign',
    async handler({ body, orgId, audited }) {
      if (body.proxy_id !== null) find(orgId, body.proxy_id)
      if (!lives(orgId)(body.connection_id)) throw notFound(`There is no connection ${body.connection_id}.`)
      await view.write((db) => assign(db, orgId, body.connection_id, body.proxy_id))
      audited(body.connection_id)
      return body
    },
  })

  gateway.api({
    method: 'PUT',
    path: '/api/proxy-pools/:id',
    summary: 'Changes a proxy; members that are left out stay.',
    role: 'manage',
    params: idParams,
    body: updateBody,
    response: poolRecord,
    audit: 'proxy.update',
    async handler({ params: { id }, body: { proxy_url, ...given }, orgId }) {
      const { name, no_proxy, enabled, strict } = find(orgId, id).row
      if (proxy_url !== undefined) check(proxy_url, rules)
      await vault.prepare(orgId)
      await view.write(async (db) => {
        await updatePool(db, orgId, id, { name, no_proxy, enabled, strict, ...given }, now())
        if (proxy_url !== undefined) await storeUrl(db, orgId, id, await seal(proxy_url, id, orgId))
      })
      return shown(orgId, id)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/proxy-pools/:id',
    summary: 'Removes a proxy; with `force=true` also one that connections are assigned to.',
    role: 'manage',
    params: idParams,
    query: z.strictObject({ force: z.enum(['true', 'false']).optional() }),
    response: deleted,
    audit: 'proxy.delete',
    async handler({ params: { id }, query, orgId, audited }) {
      const pool = find(orgId, id)
      const assigned = pool.assigned.filter(lives(orgId))
      if (assigned.length > 0 && query.force !== 'true')
        throw conflict(
          `Connections are assigned to this proxy: ${assigned.join(', ')}. Assign them elsewhere, or say \`?force=true\`.`,
          'in_use',
        )
      await view.write((db) => deletePool(db, orgId, id))
      audited(id, { name: pool.row.name, assigned_connections: assigned })
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/proxy-pools/:id/test',
    summary: 'Sends one request through a proxy, and says how long it took and which address the far side saw.',
    role: 'manage',
    params: idParams,
    response: poolRecord.shape.last_test.unwrap(),
    audit: 'proxy.test',
    async handler({ params: { id }, orgId }) {
      const { url } = find(orgId, id)
      if (url === null) throw conflict('The stored URL cannot be opened; give the proxy a new one.', 'unreadable')
      const verdict = await probeProxy(url, testUrl, calls, clock)
      await view.write((db) => storeTest(db, orgId, id, verdict))
      return verdict
    },
  })
}

function check(url: string, rules: AddressRules): void {
  checkProxyUrl(url, 'an http, https or socks5 URL', rules)
  const { username, password } = new URL(url)
  if (username === MASK || password === MASK)
    throw GatewayError.invalid('proxy_url', '`proxy_url` is masked as it was read; give the whole URL, or leave it out.')
}

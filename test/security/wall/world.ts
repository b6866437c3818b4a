// A gateway of several organizations, two of them filled with one of everything. Every name, address and text of an organization holds
// its canary, so that one look at an answer shows whose it is.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { EVENT_TYPES } from '../../../plugins/webhooks/events/catalog.ts'

export type Role = 'member' | 'manage' | 'owner'

export interface Org {
  readonly id: number
  /** Part of everything that belongs to it. */
  readonly canary: string
  readonly key: { readonly id: number; readonly key: string }
  as(role: Role): (method: string, path: string, body?: unknown) => Promise<Answer>
  /** A call to the data plane with its key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface World {
  readonly t: TestGateway
  readonly orgs: readonly [Org, Org]
  /** Requests to webhook receivers: address and body. */
  readonly posted: readonly { url: string; body: string }[]
  close(): Promise<void>
}

/** Resolves when `holds` does. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await holds()); ) {
    if (performance.now() > end) throw new Error(`It never held: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export function operator(orgId: number | null, role: Role | 'system', userId?: number): Operator {
  const actor = userId === undefined ? `${role} of ${orgId}` : `user:${userId}`
  return { actor, orgId, role, readOnly: false, auth: 'host', ...(userId === undefined ? {} : { userId }) }
}

/** @param url of a database; null: SQLite in a folder of its own. */
export async function world(url: string | null, options: TestGatewayOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-wall-'))
  const posted: { url: string; body: string }[] = []
  const t = await createTestGateway({
    ...options,
    env: {
      DATA_DIR: dir,
      MULTI_TENANT: 'true',
      LOG_BODIES: 'true',
      ...(url === null ? {} : { DATABASE_URL: url }),
      ...options.env,
    },
    ports: {
      ...options.ports,
      async outboundPost({ url: to, body }) {
        posted.push({ url: to, body })
        return { status: to.includes('fails') ? 500 : 204 }
      },
    },
  })
  const orgs = [await filled(t, 'canaryalpha'), await filled(t, 'canarybravo')] as const
  await t.gateway.committed()
  for (const { canary } of orgs) await until(async () => posted.filter(({ url }) => url.includes(canary)).length > 3)
  return {
    t,
    orgs,
    posted,
    async close() {
      await t.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function orgOf(t: TestGateway, { org, user }: Founded, canary: string, key: Org['key']): Org {
  const fetched = async (path: string, init: RequestInit, peer: object): Promise<Answer> => {
    const request = new Request(`http://gateway.test${path}`, init)
    const from = { address: '203.0.113.7', local: false, secure: true, ...peer }
    const response = await ('operator' in peer ? t.gateway.control.fetch(request, from) : t.gateway.fetch(request, from))
    return { status: response.status, text: await response.text() }
  }
  const init = (method: string, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    id: org,
    canary,
    key,
    as: (role) => (method, path, body) => fetched(path, init(method, body), { operator: operator(org, role, user) }),
    call: (method, path, body, headers) =>
      fetched(path, init(method, body, { authorization: `Bearer ${key.key}`, ...headers }), {}),
  }
}

interface Founded {
  readonly org: number
  readonly user: number
}

/** Signs up: an organization with its owner. */
export async function founded(t: TestGateway, canary: string): Promise<Founded> {
  const body = { email: `${canary}@example.com`, password: `password of ${canary}`, name: canary, org_name: `${canary} inc` }
  const answer = await t.post('/api/auth/signup', body)
  const said = await answer.text()
  if (answer.status !== 201) throw new Error(`sign-up of ${canary}: ${answer.status} ${said}`)
  const { org, user } = JSON.parse(said) as { org: { id: number }; user: { id: number } }
  return { org: org.id, user: user.id }
}

async function filled(t: TestGateway, canary: string): Promise<Org> {
  const who = await founded(t, canary)
  const bare = orgOf(t, who, canary, { id: 0, key: '' })
  const make = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await bare.as('owner')(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text) as T
  }
  interface Made {
    id: number
    key: string
  }
  const key = await make<Made>('POST', '/api/keys', { label: `${canary} key`, cost_center: `${canary}-center` })
  const org = orgOf(t, who, canary, key)
  await make('POST', '/api/providers', {
    provider: canary,
    label: `${canary} connection`,
    base_url: t.upstream.baseUrl('chat'),
    wire_format: 'chat',
    api_key: `sk-${canary}-upstream`,
    metadata: { note: canary },
  })
  await make('PUT', '/api/settings', {
    guardrails: { keywords: { deny: [`${canary} word`] }, topics: { deny: [`${canary} topic`] } },
  })
  const model = await make<Made>('POST', '/api/virtual-models', {
    name: `${canary}-model`,
    strategy: 'failover',
    targets: [`${canary}/served`],
    description: `about ${canary}`,
  })
  for (const budget of [{ scope: 'org' }, { scope: 'key', entity_id: key.id }, { scope: 'virtual_model', entity_id: model.id }])
    await make('POST', '/api/budgets', { ...budget, window: 'monthly', hard_limit_usd: 1000 })
  const budgets = await make<{ data: Made[] }>('GET', '/api/budgets')
  await make('POST', `/api/budgets/${budgets.data[0]?.id}/increase`, {
    amount_usd: 1,
    reason: `${canary} asked`,
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  const endpoint = await make<{ id: string }>('POST', '/api/webhooks/endpoints', {
    url: `https://${canary}.example.com/in`,
    event_types: EVENT_TYPES,
  })
  await make('POST', '/api/webhooks/endpoints', { url: `https://${canary}.example.com/fails`, event_types: EVENT_TYPES })
  await make('POST', `/api/webhooks/endpoints/${endpoint.id}/test`)
  await make('PUT', '/api/pricing/overrides', { data: [{ model: `${canary}/*`, input: 1000, output: 1000 }] })
  const pool = await make<Made>('POST', '/api/proxy-pools', {
    name: `${canary} pool`,
    proxy_url: `http://${canary}:secret@proxy.${canary}.example.com:8080`,
    enabled: false,
  })
  const spare = await make<Made>('POST', '/api/providers', {
    provider: `${canary}-spare`,
    label: `${canary} spare`,
    base_url: t.upstream.baseUrl('chat'),
    wire_format: 'chat',
    api_key: `sk-${canary}-spare`,
  })
  await make('POST', '/api/proxy-pools/assign', { proxy_id: pool.id, connection_id: spare.id })
  const second = await make<Made>('POST', '/api/keys', { label: `${canary} second` })
  await make('POST', `/api/keys/${second.id}/rotate`)
  await make('POST', '/api/orgs/members', { email: `invited@${canary}.example.com` })
  await make('POST', '/api/tokens', { label: `${canary} token`, scope: 'manage' })

  const headers = { 'x-gateway-session-id': `${canary}-session`, 'x-gateway-user-id': `${canary}-user` }
  const ask = (name: string, more: object = {}) => ({
    model: name,
    messages: [{ role: 'user', content: `prompt of ${canary}` }],
    user: `${canary}-user`,
    ...more,
  })
  t.upstream.push(text(`answer to ${canary}`), text(`answer to ${canary}`), fail(400))
  for (const [body, status] of [
    [ask(`${canary}/served`), 200],
    [ask(`${canary}-model`), 200],
    [ask(`${canary}/served`), 400],
  ] as const) {
    const answer = await org.call('POST', '/v1/chat/completions', body, headers)
    if (answer.status !== status) throw new Error(`chat of ${canary}: ${answer.status} ${answer.text}`)
  }
  t.upstream.push(text(`batched for ${canary}`))
  const batch = await org.call('POST', '/v1/batches', {
    requests: [{ custom_id: `${canary}-item`, body: ask(`${canary}/served`) }],
    endpoint: '/v1/chat/completions',
    metadata: { note: canary },
  })
  if (batch.status >= 300) throw new Error(`batch of ${canary}: ${batch.status} ${batch.text}`)
  const { id: batchId } = JSON.parse(batch.text) as { id: string }
  await until(async () => (await org.call('GET', `/v1/batches/${batchId}`)).text.includes('"batched for'))
  t.upstream.push(text(`stored for ${canary}`))
  for (const [path, body] of [
    ['/v1/responses', { model: `${canary}/served`, input: `question of ${canary}` }],
    ['/v1/conversations', { metadata: { note: canary }, items: [{ role: 'user', content: `turn of ${canary}` }] }],
  ] as const) {
    const kept = await org.call('POST', path, body)
    if (kept.status !== 200) throw new Error(`${path} of ${canary}: ${kept.status} ${kept.text}`)
  }
  t.upstream.push(fail(500))
  const failed = await org.call('POST', '/v1/chat/completions', ask(`${canary}/served`), headers)
  if (failed.status !== 500) throw new Error(`chat of ${canary}: ${failed.status} ${failed.text}`)
  await until(async () => (await org.as('owner')('GET', '/api/logs')).text.split('"request_id"').length > 6)
  return org
}

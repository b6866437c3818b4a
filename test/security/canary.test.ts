// The canary sweep: each secret is one of a kind, everything is used, and then it is looked for everywhere
// it must not be: database and WAL, log, metrics, answers of the control plane, errors, and files beside them.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fail, text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { jsonLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import { ask, bearer, makeKey } from '../plugins/keys/support.ts'
import { canary, filesOf, hitsOf, type Place } from './sweep.ts'

const masterKey = randomBytes(32)
const secrets: Record<string, string> = {
  'provider key (file)': canary('file-key'),
  'provider key (API)': canary('api-key'),
  'connection header': canary('header'),
  'proxy password': canary('proxy'),
  'pool password': canary('pool'),
  'master key, base64': masterKey.toString('base64'),
  'master key, hex': masterKey.toString('hex'),
  prompt: canary('prompt'),
  completion: canary('completion'),
  'dummy client key': `sk-${canary('dummy')}`,
}

let dir: string
let t: TestGateway
const lines: string[] = []
const answers: string[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-canary-'))
  const log = jsonLog(systemClock, { write: (line: string) => lines.push(line) })
  t = await createTestGateway({
    env: { DATA_DIR: dir, MASTER_KEY: secrets['master key, base64'] as string },
    ports: { log },
  })
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Everything a control-plane answer says. */
async function api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await t.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const said = await response.text()
  answers.push(`${method} ${path} ${response.status} ${[...response.headers].join(' ')} ${said}`)
  return said.startsWith('{') ? (JSON.parse(said) as Record<string, unknown>) : {}
}

it('after all of it has been used, no secret is found where it does not belong', async () => {
  const upstream = t.upstream.baseUrl('chat')
  const created = await api('POST', '/api/providers', {
    provider: 'acme',
    base_url: upstream,
    wire_format: 'chat',
    api_key: secrets['provider key (API)'],
    headers: { 'x-team-token': secrets['connection header'] },
    label: 'acme',
  })
  const proxied = await api('POST', '/api/providers', {
    provider: 'acme-proxied',
    base_url: upstream,
    wire_format: 'chat',
    api_key: secrets['provider key (API)'],
    proxy_url: `http://user:${secrets['proxy password']}@127.0.0.1:1`,
  })
  const poolUrl = `http://user:${secrets['pool password']}@127.0.0.1:1`
  const pool = await api('POST', '/api/proxy-pools', { name: 'dead', proxy_url: poolUrl })
  const assign = (id: unknown) => api('POST', '/api/proxy-pools/assign', { proxy_id: id, connection_id: created.id })
  const made = await makeKey(t, { label: 'watched' })
  const rotated = (await api('POST', `/api/keys/${made.id}/rotate`)) as { key: string }
  answers.pop()
  secrets['client key'] = made.key
  secrets['rotated client key'] = rotated.key

  const talk = (headers: Record<string, string>, model: string, stream = false) =>
    t.post('/v1/chat/completions', { ...ask(model), messages: [{ role: 'user', content: secrets.prompt }], stream }, headers)
  for (const stream of [false, true]) {
    t.upstream.script(text(secrets.completion as string))
    const answer = await (await talk(bearer(rotated.key), 'acme/m', stream)).text()
    // A stream delivers it in pieces.
    expect(answer).toContain(stream ? 'can' : 'canary-completion')
  }
  expect(t.upstream.requests.at(-1)?.headers).toMatchObject({
    authorization: `Bearer ${secrets['provider key (API)']}`,
    'x-team-token': secrets['connection header'],
  })
  const refusals: string[] = []
  for (const status of [400, 401, 403, 429, 500]) {
    const message = `bad key ${secrets['provider key (API)']} and ${secrets['connection header']}`
    t.upstream.script(fail(status, { message }), fail(status, { message }))
    refusals.push(await (await talk(bearer(rotated.key), 'acme/m')).text())
  }
  refusals.push(await (await talk(bearer(rotated.key), 'acme-proxied/m')).text())
  await assign(pool.id)
  for (const strict of [true, false]) {
    await api('PUT', `/api/proxy-pools/${pool.id}`, { strict, proxy_url: poolUrl })
    refusals.push(await (await talk(bearer(rotated.key), 'acme/m')).text())
  }
  await api('POST', `/api/proxy-pools/${pool.id}/test`)
  await api('POST', '/api/proxy-pools', { name: 'bad', proxy_url: poolUrl.replace('http', 'gopher') })
  await assign(null)
  refusals.push(await (await talk(bearer(made.key), 'acme/m')).text())
  refusals.push(await (await talk({ 'x-api-key': secrets['dummy client key'] as string }, 'nobody/m')).text())
  refusals.push(await (await t.post(`/v1/nowhere?key=${rotated.key}`, {})).text())

  await api('GET', '/api/keys')
  await api('GET', '/api/providers')
  await api('GET', `/api/providers/${created.id}`)
  await api('PUT', `/api/providers/${created.id}`, { label: 'renamed' })
  await api('PUT', `/api/providers/${created.id}`, { base_url: 'http://127.0.0.1:9/v1' })
  await api('PUT', `/api/providers/${proxied.id}`, { proxy_url: `ftp://user:${secrets['proxy password']}@x` })
  await api('POST', '/api/providers', { provider: 'openai', api_key: `${secrets['provider key (API)']}\n` })
  await api('GET', '/api/proxy-pools')
  await api('GET', '/api/quota')
  await api('GET', '/api/settings')
  await api('GET', '/api/openapi.json')
  await api('GET', '/healthz')
  await api('GET', '/metrics')
  await api('DELETE', `/api/providers/${proxied.id}`)
  await api('DELETE', `/api/keys/${made.id}`)
  await t.untilSettled(9)

  const places: Place[] = [
    ['log', lines.join('\n')],
    ['control plane', answers.join('\n')],
    ['errors', refusals.join('\n')],
    ...filesOf(dir),
  ]
  expect(places.map(([place]) => place)).toContain('/gateway.db')
  expect(places.some(([place, content]) => place.startsWith('/gateway.db') && content.includes('watched'))).toBe(true)
  expect(hitsOf(secrets, places)).toEqual([])
})

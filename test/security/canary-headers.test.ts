// The canary sweep over headers of callers that carry secrets: Helicone's own, which are read and taken off.
// Their values are in no log, table, metric, answer or error, and go to no upstream.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { broken, fail, text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { jsonLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { canary, filesOf, hitsOf, type Place } from './sweep.ts'

const secrets: Record<string, string> = {
  'Helicone key': `sk-helicone-${canary('helicone')}`,
  'password in a target address': canary('target'),
  'password in a base address': canary('base'),
  'header of a fallback': canary('fallback-header'),
  'password in a fallback address': canary('fallback-url'),
  'key for analytics': canary('posthog'),
  'value of an unknown header': canary('unknown'),
}
const LABEL = 'a label that is kept'

let dir: string
let t: TestGateway
const lines: string[] = []
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-canary-'))
  t = await createTestGateway({
    env: { DATA_DIR: dir, LOG_BODIES: 'true', DEDUP_TTL_MS: '60000' },
    ports: { log: jsonLog(systemClock, { write: (line: string) => lines.push(line) }) },
  })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const said = async (path: string, init?: RequestInit): Promise<string> => {
  const response = await t.fetch(path, init)
  return `${path} ${response.status} ${[...response.headers].join(' ')} ${await response.text()}`
}

it('no value of such a header is found anywhere, whatever becomes of the request', async () => {
  const { key } = await makeKey(t, { label: 'watched' })
  secrets['client key in Helicone-Auth'] = key
  const host = new URL(t.upstream.baseUrl('chat')).host
  const fallbacks = [
    {
      'target-url': `http://user:${secrets['password in a fallback address']}@${host}`,
      headers: { authorization: `Bearer ${secrets['header of a fallback']}` },
      bodyKeyOverride: { model: 'backup' },
    },
  ]
  const carried = {
    'helicone-auth': `Bearer ${secrets['Helicone key']}`,
    'helicone-target-url': `https://user:${secrets['password in a target address']}@api.example.com`,
    'helicone-openai-api-base': `https://user:${secrets['password in a base address']}@api.example.com/v1`,
    'helicone-fallbacks': JSON.stringify(fallbacks),
    'helicone-posthog-key': secrets['key for analytics'] as string,
    'helicone-x-unknown': secrets['value of an unknown header'] as string,
    'helicone-property-team': LABEL,
    'helicone-cache-enabled': 'true',
    'helicone-retry-enabled': 'true',
    'helicone-retry-num': '1',
    'helicone-retry-min-timeout': '1',
  }
  const answers: string[] = []
  const talk = async (headers: Record<string, string>, body: object = {}, path = '/v1/chat/completions'): Promise<number> => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const response = await t.post(path, { model: 'chat/m', messages, ...body }, headers)
    answers.push(`${response.status} ${[...response.headers].join(' ')} ${await response.text()}`)
    return response.status
  }

  t.upstream.script(text('ok'))
  expect(await talk(carried)).toBe(200)
  await t.untilSettled(1)
  expect(await talk(carried)).toBe(200)
  expect(answers.at(-1)).toContain('helicone-cache,HIT')
  expect(await talk({ ...carried, 'helicone-auth': `Bearer ${key}` }, { stream: true })).toBe(200)
  expect(await talk({ ...carried, ...bearer(key) }, { stream: true })).toBe(200)
  t.upstream.script(broken({ text: 'begun' }, 1))
  await talk(carried, { stream: true, seed: 1 })
  for (const status of [400, 401, 429, 500]) {
    t.upstream.script(fail(status), fail(status), fail(status), fail(status))
    expect(await talk(carried, { seed: status })).toBeGreaterThanOrEqual(400)
  }
  // Refused before an upstream is asked: each value of what is read, where it is not what it should be.
  expect(await talk({ 'helicone-fallbacks': `{${secrets['header of a fallback']}` })).toBe(400)
  expect(await talk({ 'helicone-fallbacks': JSON.stringify(secrets['header of a fallback']) })).toBe(400)
  await talk({ ...carried, 'helicone-ratelimit-policy': `${secrets['value of an unknown header']};w=60` }, { seed: 2 })
  expect(await talk(carried, { model: 'nobody/m' })).toBeGreaterThanOrEqual(400)
  expect(await talk(carried, {}, '/v1/nowhere')).toBe(404)
  await talk(carried, { model: 'bare-name' })

  const rows = await said('/api/logs?limit=200')
  const ids = rows.match(/req_[0-9a-f-]{36}/g) ?? []
  expect(ids.length).toBeGreaterThan(8)
  const details = await Promise.all(ids.map((id) => said(`/api/logs/${id}`)))
  const controlPlane = await Promise.all(
    ['/api/usage', '/api/audit', '/api/keys', '/metrics', '/healthz'].map((path) => said(path)),
  )
  const upstream = t.upstream.requests.map((request) => JSON.stringify([request.path, request.headers, request.text]))
  await t.close()

  const places: Place[] = [
    ['log', lines.join('\n')],
    ['answers and errors', answers.join('\n')],
    ['request log', [rows, ...details].join('\n')],
    ['control plane', controlPlane.join('\n')],
    ['upstream', upstream.join('\n')],
    ...filesOf(dir),
  ]
  // Each place was used, and labels, which are no secrets, are where they belong.
  expect(details.join('\n')).toContain(LABEL)
  expect(upstream.length).toBeGreaterThan(8)
  expect(upstream.join('\n')).not.toMatch(/helicone/i)
  expect(places.map(([place]) => place)).toContain('/gateway.db')
  expect(hitsOf(secrets, places)).toEqual([])
})

// The canary sweep over what is recorded and sent out: usage, request log with bodies, budgets, webhooks, alerts,
// live events, traces, reports. Prompts and answers are sealed in the log, and shown to whoever asks for one request there;
// secrets are nowhere.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fail, reply, text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { jsonLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import { EVENT_TYPES } from '../../plugins/webhooks/events/catalog.ts'
import { until } from '../adapters/node/support.ts'
import { ask, bearer, makeKey } from '../plugins/keys/support.ts'
import { canary, filesOf, hitsOf, type Place } from './sweep.ts'

const secrets: Record<string, string> = {
  prompt: canary('prompt'),
  completion: canary('completion'),
  // Of a shape that is known.
  'pasted key': `sk-${randomBytes(24).toString('hex')}`,
  'collector key': canary('collector'),
  'provider key': canary('provider'),
  'Helicone key': `sk-helicone-${canary('helicone')}`,
}
/** What may be shown of a logged request, to whoever may see it. */
const CONTENT = ['prompt', 'completion']

let dir: string
let t: TestGateway
let key: { id: number; key: string }
const lines: string[] = []
const answers: string[] = []
const posted: string[] = []
const exported: string[] = []
const collector = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    exported.push(`${request.url} ${body}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-canary-'))
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  t = await createTestGateway({
    env: {
      DATA_DIR: dir,
      LOG_BODIES: 'true',
      PRICING_SYNC_ENABLED: 'false',
      ALERT_WEBHOOK_URL: 'https://alerts.example.com/in',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secrets['collector key']}`,
    },
    ports: {
      log: jsonLog(systemClock, { write: (line: string) => lines.push(line) }),
      async outboundPost({ url, headers, body }) {
        posted.push(`${url} ${JSON.stringify(headers)} ${body}`)
        return { status: posted.length % 2 === 0 ? 500 : 200 }
      },
    },
  })
})
afterAll(async () => {
  await new Promise((resolve) => collector.close(resolve))
  rmSync(dir, { recursive: true, force: true })
})

async function api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const said = await saidBy(method, path, body)
  answers.push(`${method} ${path} ${said}`)
  return said.startsWith('{') ? (JSON.parse(said) as Record<string, unknown>) : {}
}

async function saidBy(method: string, path: string, body?: unknown): Promise<string> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await t.fetch(path, { method, headers: { 'content-type': 'application/json' }, ...sent })
  return response.text()
}

const talk = async (model: string, more: object = {}): Promise<number> => {
  const content = `${secrets.prompt} with ${secrets['pasted key']}`
  const body = { ...ask(model), messages: [{ role: 'user', content }], ...more }
  const headers = { ...bearer(key.key), 'x-gateway-session-id': 's1', 'helicone-auth': `Bearer ${secrets['Helicone key']}` }
  const response = await t.post('/v1/chat/completions', body, headers)
  await response.arrayBuffer()
  return response.status
}

describe('after every kind of request was recorded and told', () => {
  let live = ''
  let requestIds: string[]

  beforeAll(async () => {
    const endpoint = await saidBy('POST', '/api/webhooks/endpoints', {
      url: 'https://hooks.example.com/in',
      event_types: EVENT_TYPES,
    })
    const made = JSON.parse(endpoint) as { id: string; secret: string }
    secrets['signing secret'] = made.secret
    const rotated = JSON.parse(await saidBy('POST', `/api/webhooks/endpoints/${made.id}/rotate-secret`)) as { secret: string }
    secrets['rotated signing secret'] = rotated.secret
    key = await makeKey(t, { label: 'watched' })
    secrets['client key'] = key.key
    await api('POST', '/api/providers', {
      provider: 'acme',
      base_url: t.upstream.baseUrl('chat'),
      wire_format: 'chat',
      api_key: secrets['provider key'],
    })
    await api('PUT', '/api/pricing/overrides', { data: [{ model: 'acme/*', input: 1000, output: 1000, cache_read: 100 }] })
    const events = await t.fetch('/api/events')
    const reader = (events.body as ReadableStream<Uint8Array>).getReader()
    const listening = (async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) live += new TextDecoder().decode(next.value)
    })()

    const answer = reply({ text: secrets.completion as string, usage: { input: 20, output: 5, cacheRead: 10 } })
    t.upstream.script(answer)
    expect(await talk('acme/m')).toBe(200)
    t.upstream.script(text(secrets.completion as string))
    expect(await talk('acme/m', { stream: true })).toBe(200)
    for (const status of [500, 429, 401]) {
      const message = `no ${secrets['provider key']}`
      t.upstream.script(fail(status, { message }), fail(status, { message }))
      expect(await talk('acme/m')).toBeGreaterThanOrEqual(400)
    }
    await api('POST', '/api/budgets', { scope: 'key', entity_id: key.id, window: 'lifetime', hard_limit_usd: 0 })
    expect(await talk('acme/m')).toBe(402)
    await t.untilSettled(6)

    for (const path of ['endpoints', 'deliveries']) await api('GET', `/api/webhooks/${path}`)
    await api('POST', `/api/webhooks/endpoints/${made.id}/test`)
    await api('POST', '/api/webhooks/endpoints', { url: `https://user:${secrets['client key']}@hooks.example.com/` })
    for (const path of [
      '/api/usage',
      '/api/usage/timeseries',
      '/api/usage/split',
      '/api/eval',
      '/api/budgets',
      '/metrics',
      '/healthz',
    ])
      await api('GET', path)
    for (const format of ['json', 'csv', 'parquet'])
      await api('GET', `/api/reports?format=${format}&group_by=key,user,model,cost_center,source`)
    for (const path of [
      '/api/logs',
      '/api/logs/facets',
      '/api/audit',
      '/api/settings',
      '/api/settings/sources',
      '/api/pricing/drift',
      '/api/savings',
      '/api/savings/rollup?group_by=model',
    ])
      await api('GET', path)
    requestIds = ((await api('GET', '/api/logs')) as { data: { request_id: string }[] }).data.map(({ request_id }) => request_id)
    // It is collected for five seconds.
    await until(() => posted.some((post) => post.includes('"type":"spend.tracked"')))
    await until(() => live.split('event: request').length === 7)
    await reader.cancel()
    await listening
  }, 120_000)

  it('the log shows what was said, to whoever asks for one request, and no secret that somebody pasted', async () => {
    const details = await Promise.all(requestIds.map((id) => saidBy('GET', `/api/logs/${id}`)))
    const shown = details.join('\n')
    for (const name of CONTENT) expect(shown).toContain(secrets[name])
    const others = Object.fromEntries(Object.entries(secrets).filter(([name]) => !CONTENT.includes(name)))
    expect(hitsOf(others, [['details', shown]])).toEqual([])
  })

  it('nothing of it is found anywhere else', async () => {
    const before = filesOf(dir)
    // What waits for a collector goes out.
    await t.close()
    const places: Place[] = [
      ['log', lines.join('\n')],
      ['control plane', answers.join('\n')],
      ['webhooks and alerts', posted.join('\n')],
      ['live events', live],
      ['collector', exported.join('\n')],
      ...before,
      ...filesOf(dir),
    ]
    // Each place was used.
    expect(answers.join('\n')).toContain('"source":"prompt_cache"')
    expect(live).toContain('"api_key_label":"watched"')
    expect(posted.some((post) => post.startsWith('https://alerts.example.com/in'))).toBe(true)
    for (const type of ['request.failed', 'request.budget_rejected', 'budget.crossed', 'key.created', 'spend.tracked'])
      expect(posted.join('\n'), type).toContain(`"type":"${type}"`)
    expect(exported.map((one) => one.split(' ')[0])).toEqual(expect.arrayContaining(['/v1/traces', '/v1/metrics']))
    expect(before.some(([place, content]) => place.startsWith('/gateway.db') && content.includes('request_sealed'))).toBe(true)
    expect(hitsOf(secrets, places)).toEqual([])
  })
})

// An upstream's own words are kept in the body only, sealed and masked by shape.
it('while bodies are kept, a pasted secret that an upstream quotes in its error is masked as in a body', async () => {
  const own = await createTestGateway({ env: { LOG_BODIES: 'true' } })
  own.upstream.script(fail(400, { message: `What is ${secrets['pasted key']}?` }))
  await own.post('/v1/chat/completions', ask('chat/m'))
  await own.untilSettled()
  const { data } = (await (await own.fetch('/api/logs')).json()) as { data: { request_id: string }[] }
  const detail = await (await own.fetch(`/api/logs/${data[0]?.request_id}`)).text()
  await own.close()
  expect(detail).toContain('What is')
  expect(detail).not.toContain(secrets['pasted key'])
})

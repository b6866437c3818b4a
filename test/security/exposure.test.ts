// What plugins are handed, and what a curious client may fetch.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { ask } from '../plugins/keys/support.ts'

/** What a plugin's log line of it would say. */
function logged(value: unknown): string {
  const seen = new Set<unknown>()
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (inner instanceof Uint8Array) return new TextDecoder().decode(inner)
    if (typeof inner === 'object' && inner !== null) {
      if (seen.has(inner)) return '[seen]'
      seen.add(inner)
    }
    return inner
  })
}

describe('a plugin (L5)', () => {
  it('that logs what a hook hands it logs no credential of a connection', async () => {
    const reached: Record<string, boolean> = {}
    const look = (hook: string, ...handed: unknown[]): void => {
      reached[hook] = (reached[hook] ?? false) || logged(handed).includes('sk-upstream')
    }
    const curious = definePlugin({
      name: 'curious',
      setup(gateway) {
        gateway.hook('ingress', (ctx) => look('ingress', ctx))
        gateway.hook('access', (ctx) => look('access', ctx))
        gateway.hook('request', (ctx) => look('request', ctx))
        gateway.hook('candidates', (ctx, candidates) => {
          look('candidates', ctx, candidates)
          return candidates
        })
        gateway.hook('attempt', (ctx, candidate, next) => {
          look('attempt', ctx, candidate)
          return next()
        })
        gateway.hook('prepare', (ctx, call) => look('prepare', ctx, call))
        gateway.hook('encoded', (ctx, call) => look('encoded', ctx, call))
        gateway.hook('settled', (ctx, outcome) => look('settled', ctx, outcome))
      },
    })
    const t = await createTestGateway({ plugins: [curious()] })
    expect((await t.post('/v1/chat/completions', ask('chat/m'))).status).toBe(200)
    expect((await t.post('/v1/chat/completions', { ...ask('messages/m'), stream: false })).status).toBe(200)
    await t.untilSettled(2)
    expect(t.upstream.requests.map(({ headers }) => headers.authorization ?? headers['x-api-key'])).toEqual([
      'Bearer sk-upstream',
      'sk-upstream',
    ])
    expect(reached).toEqual({
      ingress: false,
      access: false,
      request: false,
      candidates: false,
      attempt: false,
      prepare: false,
      encoded: false,
      settled: false,
    })
    await t.close()
  })
})

describe('files of the gateway (L7)', () => {
  const NAMES = [
    'gateway.db',
    'gateway.db-wal',
    'master.key',
    '.env',
    'gateway.config.ts',
    'package.json',
    'dist/core/index.js.map',
  ]
  const WAYS = ['/', '/dl/', '/static/', '/dashboard/', '/api/', '/v1/', '/../', '/%2e%2e/', '/..%2f', '//']
  it('are served under no name', async () => {
    const t = await createTestGateway()
    const { port } = await t.listen()
    for (const name of NAMES)
      for (const way of WAYS) {
        const response = await fetch(`http://127.0.0.1:${port}${way}${name}`)
        expect(response.status, `${way}${name}`).toBe(404)
        expect(response.headers.get('content-type'), `${way}${name}`).toContain('application/json')
        await response.arrayBuffer()
      }
    await t.close()
  })
})

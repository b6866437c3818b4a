// Requests of the four dialects, and the cache result of their answers.
import { randomBytes } from 'node:crypto'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import type { CacheDirectives, CachePolicyService, ExactCacheService } from '../../../plugins/exact-cache/service.ts'

export const CACHED = ['chat', 'messages', 'responses'] as const

export const HOUR = { DEDUP_TTL_MS: '3600000' }

export function pathOf(dialect: Dialect, stream = false): string {
  if (dialect === 'chat') return '/v1/chat/completions'
  if (dialect === 'generate_content')
    return `/v1beta/models/generate_content/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  return `/v1/${dialect}`
}

export function bodyOf(dialect: Dialect, prompt = 'What is a heron?', more: object = {}): Record<string, unknown> {
  const messages = [{ role: 'user', content: prompt }]
  if (dialect === 'chat') return { model: 'chat/m', messages, ...more }
  if (dialect === 'messages') return { model: 'messages/m', max_tokens: 50, messages, ...more }
  if (dialect === 'responses') return { model: 'responses/m', input: prompt, ...more }
  return { contents: [{ role: 'user', parts: [{ text: prompt }] }], ...more }
}

export interface Seen {
  readonly status: number
  readonly cache: string | null
  readonly type: string | null
  readonly bytes: Buffer
  readonly headers: Headers
}

/** Reads the answer and waits until it is settled. */
export async function ask(
  t: TestGateway,
  dialect: Dialect,
  body: string | Record<string, unknown> = bodyOf(dialect),
  headers: Record<string, string> = {},
): Promise<Seen> {
  const settled = t.settled.length
  const stream = typeof body !== 'string' && body.stream === true
  const { stream: _, ...rest } = typeof body === 'string' ? {} : body
  const sent = dialect === 'generate_content' ? rest : body
  const response = await t.post(pathOf(dialect, stream), sent, headers)
  const seen = await seenOf(response)
  await t.untilSettled(settled + 1)
  return seen
}

export async function seenOf(response: Response): Promise<Seen> {
  const { status, headers } = response
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status, headers, bytes, cache: headers.get('x-gateway-cache'), type: headers.get('x-gateway-cache-type') }
}

export async function put(t: TestGateway, settings: object): Promise<void> {
  const response = await t.fetch('/api/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}

export interface Inside {
  cache: ExactCacheService
  policy: CachePolicyService
}

/** A plugin that passes the services out, and sets the directives of the header `x-wishes`. */
export function wishing() {
  const inside = {} as Inside
  const plugin = definePlugin({
    name: 'test-wishes',
    requires: ['exactCache'],
    setup(gateway) {
      inside.cache = gateway.use('exactCache')
      inside.policy = gateway.use('cachePolicy')
      gateway.hook('request', (ctx) => {
        const asked = ctx.headers.get('x-wishes')
        if (asked !== null) inside.cache.request(ctx, JSON.parse(asked) as CacheDirectives)
      })
    },
  })
  return { inside, plugin: plugin() }
}

export const masterKey = (): string => randomBytes(32).toString('base64')

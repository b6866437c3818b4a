// Every hook × every endpoint × stream on and off fires exactly once: the test other gateways fail.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { HOOK_NAMES } from '../../core/hooks/catalogue.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { HookName } from '../../core/types/hooks.ts'
import type { Result } from '../../core/types/result.ts'

const fired: string[] = []
let veto: HookName | null = null
let hit: Result | null = null

const note = (hook: HookName) => {
  fired.push(hook)
  if (veto === hook) throw GatewayError.forbidden(`veto in ${hook}`)
}

/** A plugin on every hook, each of which only takes part. */
const everywhere = definePlugin({
  name: 'everywhere',
  setup(gateway) {
    gateway.hook('ingress', () => note('ingress'))
    gateway.hook('authenticate', (ctx) => {
      note('authenticate')
      return { ...ctx.principal, label: 'tested' }
    })
    gateway.hook('access', () => note('access'))
    gateway.hook('resolve', () => void note('resolve'))
    gateway.hook('request', () => note('request'))
    gateway.hook('answer', () => {
      note('answer')
      return hit ?? undefined
    })
    gateway.hook('admit', (ctx) => {
      note('admit')
      for (const name of ['first', 'second']) ctx.hold({ settle: () => void fired.push(`lease ${name}`) })
    })
    gateway.hook('candidates', (_ctx, candidates) => {
      note('candidates')
      return candidates
    })
    gateway.hook('call', (_ctx, next) => {
      note('call')
      return next()
    })
    gateway.hook('attempt', (_ctx, _candidate, next) => {
      note('attempt')
      return next()
    })
    gateway.hook('prepare', () => note('prepare'))
    gateway.hook('encoded', () => note('encoded'))
    gateway.hook('stream', () => {
      note('stream')
      return { event: (event, emit) => emit(event) }
    })
    let batches = new WeakSet<RequestContext>()
    gateway.hook('stream:batch', (ctx, events) => {
      // Once per upstream read: noted once per request.
      if (!batches.has(ctx)) note('stream:batch')
      batches.add(ctx)
      return events
    })
    gateway.hook('response', () => note('response'))
    gateway.hook('settle', () => note('settle'))
    gateway.hook('settled', () => note('settled'))
    gateway.hook('ready', () => note('ready'))
    gateway.hook('close', () => {
      batches = new WeakSet()
      note('close')
    })
  },
})

const chat = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }
const contents = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
interface Endpoint {
  name: string
  stream: boolean
  path: string
  body: object
  streams?: boolean
}
const ENDPOINTS: Endpoint[] = [
  { name: 'chat completions', stream: false, path: '/v1/chat/completions', body: chat },
  { name: 'chat completions', stream: true, path: '/v1/chat/completions', body: { ...chat, stream: true } },
  { name: 'chat completions with contents', stream: false, path: '/v1/chat/completions', body: { model: 'chat/m', ...contents } },
  {
    name: 'chat completions with contents',
    stream: true,
    path: '/v1/chat/completions',
    body: { model: 'chat/m', stream: true, ...contents },
  },
  { name: 'messages', stream: false, path: '/v1/messages', body: { ...chat, max_tokens: 9 } },
  { name: 'messages', stream: true, path: '/v1/messages', body: { ...chat, max_tokens: 9, stream: true } },
  { name: 'count_tokens', stream: false, path: '/v1/messages/count_tokens', body: { ...chat, model: 'messages/m' } },
  { name: 'responses', stream: false, path: '/v1/responses', body: { model: 'chat/m', input: 'hi' } },
  { name: 'responses', stream: true, path: '/v1/responses', body: { model: 'chat/m', input: 'hi', stream: true } },
  { name: 'generateContent', stream: false, path: '/v1beta/models/chat/m:generateContent', body: contents },
  {
    name: 'streamGenerateContent, SSE',
    stream: true,
    path: '/v1beta/models/chat/m:streamGenerateContent?alt=sse',
    body: contents,
  },
  { name: 'streamGenerateContent, array', stream: true, path: '/v1beta/models/chat%2Fm:streamGenerateContent', body: contents },
]

const REQUEST_HOOKS = HOOK_NAMES.filter((hook) => !['ready', 'close', 'stream', 'stream:batch', 'response'].includes(hook))
const LEASES = ['lease second', 'lease first']
const counts = () => Object.fromEntries([...new Set(fired)].map((name) => [name, fired.filter((other) => other === name).length]))

describe.each(['chat', 'messages', 'responses', 'generate_content'])('towards a %s upstream', (upstream) => {
  let gateway: TestGateway
  beforeAll(async () => {
    fired.length = 0
    gateway = await createTestGateway({ plugins: [everywhere()], upstream: [text('Hello there.')] })
    expect(fired).toEqual(['ready'])
  })
  afterAll(async () => {
    fired.length = 0
    await gateway.close()
    expect(fired).toEqual(['close'])
  })
  beforeEach(() => {
    fired.length = 0
    veto = hit = null
  })

  const call = async ({ path, body }: Endpoint) => {
    const settled = gateway.settled.length
    const towards = (value: string) =>
      value
        .replace(/^chat\//, `${upstream}/`)
        .replace('/chat/m', `/${upstream}/m`)
        .replace('/chat%2Fm', `/${upstream}%2Fm`)
    const sent =
      'model' in body ? { ...body, model: path.includes('count_tokens') ? body.model : towards(String(body.model)) } : body
    const response = await gateway.post(towards(path), sent)
    const answer = await response.text()
    await gateway.untilSettled(settled + 1)
    return { status: response.status, answer }
  }

  it.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint.stream ? 'streamed' : 'whole', endpoint] as const))(
    '%s, %s: each hook exactly once',
    async (_name, _how, endpoint) => {
      const { status, answer } = await call(endpoint)
      expect(status, answer).toBe(200)
      const counting = endpoint.path.includes('count_tokens')
      const expected = [...REQUEST_HOOKS, ...LEASES, ...(endpoint.stream ? ['stream', 'stream:batch'] : ['response'])]
      expect(counts()).toEqual(Object.fromEntries(expected.map((hook) => [hook, 1])))
      expect(fired.filter((name) => name.startsWith('lease'))).toEqual(LEASES)
      expect(fired.indexOf('settle')).toBeGreaterThan(fired.indexOf('lease first'))
      expect(gateway.settled.at(-1)?.outcome.status).toBe(200)
      expect(gateway.settled.at(-1)?.outcome.steps.length).toBe(counting ? 0 : 1)
    },
  )

  it.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint.stream ? 'streamed' : 'whole', endpoint] as const))(
    '%s, %s: a failing upstream settles once, and its leases',
    async (_name, _how, endpoint) => {
      gateway.upstream.script(fail(500))
      const { status } = await call(endpoint)
      expect(status).toBe(500)
      const after = counts()
      expect([after.attempt, after.settle, after.settled, after['lease first'], after['lease second'], after.response]).toEqual([
        1,
        1,
        1,
        1,
        1,
        undefined,
      ])
      gateway.upstream.script(text('Hello there.'))
    },
  )

  it.each([
    'ingress',
    'authenticate',
    'access',
    'resolve',
    'request',
    'answer',
    'admit',
    'candidates',
    'call',
    'attempt',
    'prepare',
    'encoded',
  ] as HookName[])('a veto in %s is the caller’s error, nothing later runs, and the request settles once', async (hook) => {
    for (const endpoint of ENDPOINTS) {
      fired.length = 0
      veto = hook
      const before = gateway.upstream.requests.length
      const { status, answer } = await call(endpoint)
      expect([status, JSON.parse(answer).error.message], `${endpoint.name} ${endpoint.stream}`).toEqual([403, `veto in ${hook}`])
      expect(gateway.upstream.requests.length).toBe(before)
      const ran = REQUEST_HOOKS.filter((name) => fired.includes(name))
      expect(ran).toEqual(
        REQUEST_HOOKS.filter(
          (name) => name === 'settle' || name === 'settled' || REQUEST_HOOKS.indexOf(name) <= REQUEST_HOOKS.indexOf(hook),
        ),
      )
      expect([counts().settle, counts().settled]).toEqual([1, 1])
      expect(gateway.settled.at(-1)?.outcome.status).toBe(403)
    }
  })

  it('an answer from a hook goes out in the caller’s dialect, asks no upstream, and settles', async () => {
    const usage = { inputTotal: 3, cacheRead: 0, cacheWrite: 0, outputTotal: 2, total: 5, estimated: false, raw: null }
    hit = {
      kind: 'full',
      response: {
        id: 'x',
        created: 1,
        model: 'm',
        choices: [{ index: 0, parts: [{ t: 'text', text: 'from the cache' }], finish: 'stop', nativeFinish: 'stop' }],
        usage,
        ext: {},
      },
    }
    for (const endpoint of ENDPOINTS.filter(({ stream, path }) => !stream && !path.includes('count_tokens'))) {
      fired.length = 0
      const before = gateway.upstream.requests.length
      const { status, answer } = await call(endpoint)
      expect([status, answer.includes('from the cache')], answer).toEqual([200, true])
      expect(gateway.upstream.requests.length).toBe(before)
      expect([counts().admit, counts().call, counts().settle, counts().settled]).toEqual([undefined, undefined, 1, 1])
    }
  })
})

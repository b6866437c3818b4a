// Every hook × every endpoint × plain and stream runs exactly once, however the request ends; per-attempt hooks run once per attempt;
// leases settle once, last first.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestGateway,
  fail,
  hang,
  reply,
  type ScriptedUpstream,
  scriptedUpstream,
  type TestGateway,
  text,
} from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { freshAccounts } from '../support/fresh-accounts.ts'
import { DIALECTS } from './support/accounts.ts'
import { cells } from './support/cells.ts'
import { ENDPOINTS, type Endpoint } from './support/endpoints.ts'
import { framesOf } from './support/faults.ts'
import { hookRecorder, REQUEST_HOOKS, type RequestHook } from './support/hook-recorder.ts'

const count = cells('hooks matrix')
const recorder = hookRecorder()
let t: TestGateway
let upstream: ScriptedUpstream
beforeAll(async () => {
  upstream = await scriptedUpstream()
  const at = (wireFormat: Dialect) => ({ provider: 'custom', baseUrl: upstream.baseUrl(wireFormat), wireFormat, apiKey: 'sk-1' })
  const connections = { ...Object.fromEntries(DIALECTS.map((dialect) => [dialect, at(dialect)])), echo: { provider: 'echo' } }
  t = await createTestGateway({ plugins: [recorder.plugin, freshAccounts()], config: { connections } })
})
afterAll(async () => {
  await t.close()
  await upstream.close()
  expect(recorder.lifecycle).toEqual({ ready: 1, close: 1 })
})
beforeEach(() => {
  recorder.behave = {}
  recorder.passive = true
})

const BEFORE_CALL: RequestHook[] = [
  'ingress',
  'authenticate',
  'access',
  'resolve',
  'request',
  'answer',
  'admit',
  'reserve',
  'candidates',
  'call',
]
const PER_ATTEMPT: RequestHook[] = ['attempt', 'prepare', 'encoded']
const END: RequestHook[] = ['settle', 'settled']

/** How often each hook runs for one request; absent = never. */
function expected(hooks: readonly RequestHook[], more: Partial<Record<RequestHook, number>> = {}): Record<string, number> {
  return { ...Object.fromEntries([...hooks, ...END].map((hook) => [hook, 1])), ...more }
}

interface Ran {
  id: string
  fired: Record<string, number>
  status: number
  outcome: TestGateway['settled'][number]['outcome']
}

async function run(endpoint: Endpoint, model: string, init: RequestInit = {}): Promise<Ran> {
  const { path, body } = endpoint.request(model)
  const settled = t.settled.length
  const response = await t.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...init,
  })
  await response.text().catch(() => '')
  await t.untilSettled(settled + 1)
  // No handler may run twice or late.
  await new Promise((resolve) => setImmediate(resolve))
  expect(t.settled).toHaveLength(settled + 1)
  const { ctx, outcome } = t.settled[settled]!
  return { id: ctx.id, fired: recorder.of(ctx.id), status: response.status, outcome }
}

const targets = (endpoint: Endpoint) =>
  endpoint.operation === 'count_tokens'
    ? ['messages/m']
    : [`${endpoint.caller}/m`, endpoint.caller === 'chat' ? 'messages/m' : 'chat/m', 'echo/echo-1']
const cellsOf = ENDPOINTS.flatMap((endpoint) =>
  targets(endpoint).map((model) => ({ endpoint, model, name: `${endpoint.name} → ${model}` })),
)

describe('a request that is answered', () => {
  it.each(cellsOf)('$name fires each hook exactly once', async ({ endpoint, model }) => {
    for (const passive of [true, false]) {
      await count.run('answered', `${endpoint.name} → ${model}, ${passive ? 'passive' : 'active'}`, async () => {
        recorder.passive = passive
        upstream.script(text('fine'))
        const { fired, status, outcome } = await run(endpoint, model)
        expect([status, outcome.status]).toEqual([200, 200])
        const local = model.startsWith('echo')
        const attempt = local ? PER_ATTEMPT.filter((hook) => hook !== 'encoded') : PER_ATTEMPT
        const way = endpoint.stream ? (['stream'] as const) : (['response'] as const)
        const { 'stream:batch': batches = 0, ...once } = fired
        expect(once).toEqual(expected([...BEFORE_CALL, ...attempt, ...way]))
        if (endpoint.stream) expect(recorder.events).toBeGreaterThan(2)
        expect(batches > 0).toBe(endpoint.stream && !passive)
        expect(recorder.order.slice(0, BEFORE_CALL.length)).toEqual(BEFORE_CALL)
        expect(recorder.order.slice(-2)).toEqual(END)
        expect(recorder.leases).toEqual([...(local ? [] : ['encoded#1']), 'attempt#1', 'admit#1', 'access#1', 'ingress#1'])
      })
    }
  })
})

describe('a request that fails over', () => {
  it.each(cellsOf.filter(({ model }) => !model.startsWith('echo')))('$name fires attempt hooks once per attempt', async ({
    endpoint,
    model,
  }) => {
    await count.run('failed', `${endpoint.name} → ${model}`, async () => {
      upstream.script(fail(500))
      const { fired, status, outcome } = await run(endpoint, model)
      expect([status, outcome.status]).toEqual([500, 500])
      expect(fired).toEqual(expected([...BEFORE_CALL, ...PER_ATTEMPT], streamFactory(endpoint, model)))
      expect(recorder.leases).toEqual(['encoded#1', 'attempt#1', 'admit#1', 'access#1', 'ingress#1'])
    })
  })

  it('strips a field in a second attempt, which the plugins inside see', async () => {
    upstream.script(
      fail(400, { message: "Unsupported parameter: 'seed'", param: 'seed', code: 'unsupported_parameter' }),
      text('fine'),
    )
    const settled = t.settled.length
    const response = await t.post('/v1/chat/completions', {
      model: 'chat/m',
      seed: 1,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(response.status).toBe(200)
    await t.untilSettled(settled + 1)
    const fired = recorder.of(t.settled[settled]!.ctx.id)
    expect(fired).toEqual(expected([...BEFORE_CALL, 'response'], { attempt: 2, prepare: 2, encoded: 2 }))
    expect(recorder.leases).toEqual(['encoded#2', 'attempt#2', 'encoded#1', 'attempt#1', 'admit#1', 'access#1', 'ingress#1'])
  })
})

/** On the byte lane the stream factory runs before the call, because its result selects the lane. */
function streamFactory(endpoint: Endpoint, model: string): Partial<Record<RequestHook, number>> {
  return endpoint.stream && model.startsWith(`${endpoint.caller}/`) ? { stream: 1 } : {}
}

describe('a request the client leaves', () => {
  it.each(cellsOf.filter(({ model }) => !model.startsWith('echo')))('$name settles once', async ({ endpoint, model }) => {
    for (const moment of endpoint.stream ? (['waiting', 'streaming'] as const) : (['waiting'] as const)) {
      await count.run('aborted', `${endpoint.name} → ${model}, ${moment}`, async () => {
        const dialect = model.slice(0, model.indexOf('/')) as Dialect
        upstream.script(
          moment === 'waiting' ? hang() : reply({ text: 'fine, thank you' }, { stallAfter: framesOf(dialect).head.length + 2 }),
        )
        const controller = new AbortController()
        const arrived = upstream.requests.length
        const running = run(endpoint, model, { signal: controller.signal })
        await expect.poll(() => upstream.requests.length, { interval: 1 }).toBe(arrived + 1)
        if (moment === 'streaming')
          await expect.poll(() => [...t.gateway.live()][0]?.contentBytes, { interval: 1 }).toBeGreaterThan(0)
        controller.abort()
        const { fired, outcome } = await running
        expect(outcome).toMatchObject({ status: 499, aborted: true })
        const stream = moment === 'streaming' ? { stream: 1 } : streamFactory(endpoint, model)
        expect(fired).toEqual(expected([...BEFORE_CALL, ...PER_ATTEMPT], stream))
        expect(recorder.leases).toEqual(['encoded#1', 'attempt#1', 'admit#1', 'access#1', 'ingress#1'])
      })
    }
  })
})

describe('a request that is answered from elsewhere', () => {
  it.each(ENDPOINTS)('$name: an answer hook ends it before admit', async (endpoint) => {
    await count.run('hit', endpoint.name, async () => {
      recorder.behave.answer = (ctx: RequestContext) => {
        ctx.cached = 'exact'
        const body = new TextEncoder().encode('{"cached":true}')
        return { kind: 'raw', status: 200, headers: ['content-type', 'application/json'], body }
      }
      const arrived = upstream.requests.length
      const { fired, status, outcome } = await run(endpoint, endpoint.operation === 'chat' ? 'chat/m' : 'messages/m')
      expect([status, upstream.requests.length]).toEqual([200, arrived])
      expect(fired).toEqual(expected(['ingress', 'authenticate', 'access', 'resolve', 'request', 'answer']))
      expect(outcome).toMatchObject({ cached: 'exact', usage: { total: 0 }, steps: [] })
      expect(recorder.leases).toEqual(['access#1', 'ingress#1'])
    })
  })
})

describe('a request that is vetoed', () => {
  const VETOES = [...BEFORE_CALL, ...PER_ATTEMPT]
  const ORDER = [...VETOES, 'response'] as RequestHook[]
  it.each([...VETOES, 'response'] as RequestHook[])('in %s: nothing after it runs but settle and settled', async (hook) => {
    for (const endpoint of ENDPOINTS) {
      if (hook === 'response' && endpoint.stream) continue
      await count.run('vetoed', `${hook}, ${endpoint.name}`, async () => {
        upstream.script(text('fine'))
        recorder.behave = {
          [hook]: () => {
            throw GatewayError.forbidden('No.')
          },
        }
        const model = endpoint.operation === 'chat' ? `${endpoint.caller}/m` : 'messages/m'
        const { fired, status, outcome } = await run(endpoint, model)
        expect([status, outcome.status, outcome.error?.message]).toEqual([403, 403, 'No.'])
        expect(fired).toEqual(expected(ORDER.slice(0, ORDER.indexOf(hook) + 1)))
        expect(recorder.leases).toEqual([...new Set(recorder.leases)])
      })
    }
  })

  it('by a bug: closed hooks refuse with 503, an open one is passed by', async () => {
    for (const hook of VETOES) {
      await count.run('bug', hook, async () => {
        upstream.script(text('fine'))
        recorder.behave = {
          [hook]: () => {
            throw new TypeError('x is not a function at /home/me/secret.ts')
          },
        }
        const { status, outcome, fired } = await run(ENDPOINTS[0]!, 'chat/m')
        expect(status).toBe(hook === 'answer' ? 200 : 503)
        expect(fired).toMatchObject({ settle: 1, settled: 1, [hook]: 1 })
        if (status === 503) expect(outcome.error).toMatchObject({ code: 'plugin_failed' })
      })
    }
  })
})

it('knows every hook of the catalogue', () => {
  const covered = new Set<string>([...BEFORE_CALL, ...PER_ATTEMPT, ...END, 'stream', 'stream:batch', 'response'])
  expect([...REQUEST_HOOKS].filter((hook) => !covered.has(hook))).toEqual([])
})

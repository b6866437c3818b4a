// What a plugin may do with a request: slots, leases, reads and edits, guards, lanes, transforms.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, hang, reply, type TestGateway, text } from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import { framesOf } from './support/faults.ts'
import { pathAndBody } from './support/wire.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})
const plugin = (name: string, setup: (gateway: PluginGateway) => void) => definePlugin({ name, setup })()
async function gateway(...setups: ((gateway: PluginGateway) => void)[]): Promise<TestGateway> {
  const t = await createTestGateway({ plugins: setups.map((setup, index) => plugin(`plugin-${index}`, setup)) })
  closing.push(t)
  return t
}
const ask = (t: TestGateway, stream: boolean, model = 'chat/m', more: object = {}) => {
  const { path, body } = pathAndBody('chat', model, stream)
  return t.post(path, { ...body, ...more })
}

describe('slots', () => {
  it('are of one request and one plugin, in every hook from ingress to settled', async () => {
    const seen: unknown[] = []
    const t = await gateway(
      (g) => {
        const slot = g.slot<{ path: string }>()
        g.hook('ingress', (ctx) => {
          seen.push(slot.get(ctx))
          slot.set(ctx, { path: ctx.ingress?.query ?? '' })
        })
        g.hook('settle', (ctx) => void seen.push(slot.get(ctx)?.path))
      },
      (g) => {
        const slot = g.slot<number>()
        g.hook('request', (ctx) => {
          seen.push(slot.get(ctx))
          slot.set(ctx, 1)
        })
      },
    )
    for (const [index, query] of ['a', 'b'].entries()) {
      await t.post(`/v1/chat/completions?${query}`, pathAndBody('chat', 'chat/m', false).body)
      await t.untilSettled(index + 1)
    }
    expect(seen).toEqual([undefined, undefined, 'a', undefined, undefined, 'b'])
  })
})

describe('leases', () => {
  it('settle last first, before settle and settled, with the frozen outcome; one that throws does not keep the others', async () => {
    const order: string[] = []
    const t = await gateway((g) => {
      g.hook('access', (ctx) => {
        ctx.hold({ settle: (outcome) => void order.push(`first ${outcome.status} ${Object.isFrozen(outcome)}`) })
        ctx.hold({
          settle() {
            order.push('second')
            throw new Error('lease bug')
          },
        })
      })
      g.hook('prepare', (ctx) => ctx.hold({ settle: () => void order.push('third') }))
      g.hook('settle', () => void order.push('settle'))
      g.hook('settled', (ctx) => {
        order.push('settled')
        expect(() => ctx.hold({ settle() {} })).toThrow(/settled/)
      })
    })
    expect((await ask(t, false)).status).toBe(200)
    await t.untilSettled()
    expect(order).toEqual(['third', 'second', 'first 200 true', 'settle', 'settled'])
  })

  it('settle on the deadline, a drain and a client that never read', async () => {
    const outcomes: (number | boolean)[][] = []
    const t = await gateway((g) =>
      g.hook('access', (ctx) => ctx.hold({ settle: ({ status, aborted }) => void outcomes.push([status, aborted]) })),
    )
    t.upstream.script(hang())
    const waiting = ask(t, true)
    await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
    await t.gateway.drain(0)
    expect((await waiting).status).toBe(503)
    t.upstream.script(reply({ text: 'fine, thank you' }, { stallAfter: 4 }))
    const response = await ask(t, true)
    await response.body?.cancel()
    await t.untilSettled(2)
    expect(outcomes).toEqual([
      [503, false],
      [499, true],
    ])
  })
})

describe('reads and edits', () => {
  const HUGE = '{"model":"chat/m","seed":9223372036854775807,"messages":[{"role":"user","content":"hi"}],"unknown":{"a":[1.50]}}'
  const sentAs = (t: TestGateway) => t.upstream.requests.at(-1)?.text as string

  it('reading keeps the request byte lane: everything but the model leaves as it came', async () => {
    const t = await gateway((g) =>
      g.hook('request', (ctx) => void expect(ctx.request.messages).toHaveLength(1), { operation: 'chat' }),
    )
    expect((await t.post('/v1/chat/completions', HUGE)).status).toBe(200)
    expect(sentAs(t)).toBe(HUGE.replace('chat/m', 'm'))
  })

  it('the request is frozen; edit() gives a copy, ends the request byte lane and only that', async () => {
    const t = await gateway((g) =>
      g.hook(
        'request',
        (ctx) => {
          const request = ctx.request as unknown as { messages: object[] }
          expect(() => request.messages.push({})).toThrow(TypeError)
          ctx.edit().messages.push({ role: 'user', parts: [{ t: 'text', text: 'and again' }] })
          expect(ctx.edited).toBe(true)
        },
        { operation: 'chat' },
      ),
    )
    t.upstream.script(text('raw answer'))
    const response = await t.post('/v1/chat/completions', HUGE)
    expect(t.upstream.requests[0]?.json.messages).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'and again' },
    ])
    // The answer still has the upstream's own bytes.
    const { RENDERERS } = await import('../../adapters/testing/index.ts')
    expect(await response.text()).toBe(JSON.stringify(RENDERERS.chat.json({ text: 'raw answer' })))
  })

  it('call.edit() is of one attempt: the next one starts from the caller’s request', async () => {
    const seen: string[] = []
    const t = await createTestGateway({
      config: {
        connections: {
          a: { provider: 'p', baseUrl: 'http://127.0.0.1:9/v1', wireFormat: 'chat' },
          b: { provider: 'p', baseUrl: 'http://127.0.0.1:9/v1', wireFormat: 'messages' },
        },
      },
      plugins: [
        plugin('editor', (g) =>
          g.hook(
            'prepare',
            (_ctx, call) => {
              seen.push(JSON.stringify(call.request.messages))
              call.edit().messages.push({ role: 'user', parts: [{ t: 'text', text: call.candidate.connection.id }] })
            },
            { operation: 'chat' },
          ),
        ),
      ],
    })
    closing.push(t)
    expect((await ask(t, false, 'p/m')).status).toBe(502)
    expect(seen).toHaveLength(2)
    expect(seen[0]).toBe(seen[1])
  })

  it('encoded edits by path and splices: big numbers and unknown members stay', async () => {
    const t = await gateway((g) =>
      g.hook('encoded', (_ctx, call) => {
        call.body.set('temperature', 0.5)
        call.body.remove('unknown')
        call.headers.set('x-from-plugin', 'yes')
      }),
    )
    await t.post('/v1/chat/completions', HUGE)
    expect(sentAs(t)).toMatch(/"seed":9223372036854775807/)
    expect(t.upstream.requests[0]?.json).toMatchObject({ temperature: 0.5, model: 'm' })
    expect(t.upstream.requests[0]?.json).not.toHaveProperty('unknown')
    expect(t.upstream.requests[0]?.headers['x-from-plugin']).toBe('yes')
  })

  it('a `when` that says no is as if the plugin were not there: no decode, no lane change', async () => {
    let asked = 0
    const t = await gateway((g) => {
      const when = () => {
        asked++
        return false
      }
      const never = () => {
        throw new Error('must not run')
      }
      for (const hook of ['request', 'prepare', 'response', 'admit', 'encoded', 'settle'] as const)
        g.hook(hook, never as never, { when })
      g.hook('stream', never, { when })
      g.hook('stream:batch', never, { when })
    })
    t.upstream.script(text('raw answer'))
    expect((await t.post('/v1/chat/completions', HUGE)).status).toBe(200)
    expect(sentAs(t)).toBe(HUGE.replace('chat/m', 'm'))
    const streamed = await (await ask(t, true, 'chat/m', { stream_options: { include_usage: true } })).text()
    expect(streamed).toBe(framesOf('chat', 'raw answer').all.join(''))
    expect(asked).toBeGreaterThan(6)
  })
})

describe('stream transforms', () => {
  const include = { stream_options: { include_usage: true } }
  const upper = (event: StreamEvent): StreamEvent =>
    event.e === 'delta' && 'text' in event.d ? { ...event, d: { text: event.d.text.toUpperCase() } } : event

  it('a passive one sees every event and keeps the bytes', async () => {
    const seen: string[] = []
    const t = await gateway((g) => g.hook('stream', () => ({ passive: true, event: (event) => void seen.push(event.e) })))
    t.upstream.script(text('fine, thank you'))
    expect(await (await ask(t, true, 'chat/m', include)).text()).toBe(framesOf('chat').all.join(''))
    expect(seen.slice(0, 3)).toEqual(['start', 'part_start', 'delta'])
    expect(seen.slice(-1)).toEqual(['end'])
  })

  it('an active one changes what the caller gets, in both lanes’ requests; the request bytes stay', async () => {
    const t = await gateway((g) => g.hook('stream', () => ({ event: (event, emit) => emit(upper(event)) })))
    for (const model of ['chat/m', 'messages/m']) {
      t.upstream.script(text('fine, thank you'))
      expect(await (await ask(t, true, model)).text()).toContain('"FINE"')
    }
  })

  it('a batch stage may await; its order holds', async () => {
    const t = await gateway((g) =>
      g.hook('stream:batch', async (_ctx, events) => {
        await new Promise((resolve) => setImmediate(resolve))
        return events.map(upper)
      }),
    )
    t.upstream.script(text('fine, thank you', { everyMs: 1 }))
    const answer = await (await ask(t, true)).text()
    const texts = [...answer.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1])
    expect(texts.join('')).toBe('FINE, THANK YOU')
  })

  it.each([
    ['factory', true],
    ['factory', false],
    ['event', false],
  ] as const)('a bug in the %s refuses or ends the stream, and the upstream is let go (same dialect: %s)', async (where, same) => {
    const bug = () => {
      throw new Error('transform bug')
    }
    const t = await gateway((g) =>
      g.hook(
        'stream',
        where === 'factory' ? bug : () => ({ event: (event, emit) => (event.e === 'delta' ? bug() : emit(event)) }),
      ),
    )
    t.upstream.script(reply({ text: 'fine, thank you' }, { everyMs: 20 }))
    const response = await ask(t, true, same ? 'chat/m' : 'messages/m')
    const answer = await response.text()
    expect(answer).toMatch(/"error"/)
    expect(answer).not.toContain('[DONE]')
    if (where === 'factory') expect(response.status).toBe(503)
    await t.untilSettled()
    expect(t.settled[0]?.outcome.error).toMatchObject({ code: 'plugin_failed' })
    if (!same) await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })

  it('a decision thrown in the middle ends the stream in that error', async () => {
    const t = await gateway((g) =>
      g.hook('stream', () => {
        let deltas = 0
        return {
          event(event, emit) {
            if (event.e === 'delta' && ++deltas > 2) throw GatewayError.blocked('no-swearing')
            emit(event)
          },
        }
      }),
    )
    t.upstream.script(reply({ text: 'fine, thank you' }, { everyMs: 5 }))
    const answer = await (await ask(t, true)).text()
    expect(answer).toMatch(/no-swearing/)
    await t.untilSettled()
    expect(t.settled[0]?.outcome).toMatchObject({ status: 502, error: { code: 'guardrail_blocked' } })
    await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })
})

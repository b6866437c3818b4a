// Internal calls: with a parent they are steps of its request and settle with it; without one they settle under their source.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, hang, reply, type TestGateway, text } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { collector } from '../../core/stream/collect.ts'
import type { InvokeOptions, PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { CanonicalRequest } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { hookRecorder } from './support/hook-recorder.ts'
import { pathAndBody } from './support/wire.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

const question = (model: string, stream = false): CanonicalRequest => ({
  model,
  stream,
  source: 'chat',
  system: [],
  tools: [],
  sampling: {},
  headers: {},
  ext: {},
  messages: [{ role: 'user', parts: [{ t: 'text', text: 'inner' }] }],
})

async function read(result: Result): Promise<string> {
  if (result.kind === 'full')
    return result.response.choices[0]?.parts.map((part) => (part.t === 'text' ? part.text : '')).join('') ?? ''
  if (result.kind !== 'stream') throw new Error(result.kind)
  const whole = collector()
  await result.source.pump({ event: whole.event, frame() {}, ready: () => undefined })
  return read({ kind: 'full', response: whole.response() })
}

/** A gateway with a plugin that acts in `call`, and a recorder of all hooks after it. */
async function gateway(during: (ctx: RequestContext, invoke: PluginGateway['invoke']) => Promise<void>) {
  const recorder = hookRecorder()
  let invoke: PluginGateway['invoke'] | undefined
  const caller = definePlugin({
    name: 'caller',
    setup(gateway) {
      invoke = gateway.invoke
      gateway.hook('call', async (ctx, next) => {
        if (ctx.parent === null && ctx.ingress !== null) await during(ctx, gateway.invoke)
        return next()
      })
    },
  })()
  const t = await createTestGateway({ plugins: [caller, recorder.plugin] })
  closing.push(t)
  return { t, recorder, invoke: invoke as PluginGateway['invoke'] }
}
const ask = (t: TestGateway, stream = false) => t.post('/v1/chat/completions', pathAndBody('chat', 'chat/m', stream).body)
const STEP: InvokeOptions = { operation: 'chat', source: 'panel' }

describe('with a parent', () => {
  it.each([false, true])('its usage is a step of the parent, which settles once (stream: %s)', async (stream) => {
    const answers: string[] = []
    const { t, recorder } = await gateway(async (ctx, invoke) => {
      const result = await invoke(question('messages/panel-1', stream), { ...STEP, parent: ctx, role: 'panel' })
      answers.push(await read(result))
    })
    t.upstream.script(reply({ text: 'from the panel', usage: { input: 30, output: 5 } }), text('from the target'))
    expect(await (await ask(t)).json()).toMatchObject({ choices: [{ message: { content: 'from the target' } }] })
    await t.untilSettled()
    expect(answers).toEqual(['from the panel'])
    expect(t.settled).toHaveLength(1)
    const { ctx, outcome } = t.settled[0]!
    expect(outcome.steps).toMatchObject([
      { index: 0, model: 'panel-1', source: 'panel', provider: 'messages', usage: { inputTotal: 30, outputTotal: 5 } },
      { index: 1, model: 'm', source: 'api', provider: 'chat', usage: { inputTotal: 12, outputTotal: 7 } },
    ])
    expect(ctx.attempts.map(({ role, action }) => [role, action])).toEqual([
      ['panel', 'returned'],
      [undefined, 'returned'],
    ])
    // Of the child only the hooks from resolve to response.
    const child = t.upstream.requests[0]
    expect(child?.json.messages).toMatchObject([{ role: 'user' }])
    expect(recorder.of(ctx.id)).toMatchObject({ settle: 1, settled: 1, admit: 1, request: 1, resolve: 1 })
  })

  it('runs resolve … response of its own and nothing else; response hooks run where the answer arose', async () => {
    const children: RequestContext[] = []
    const { t, recorder } = await gateway(async (ctx, invoke) => {
      recorder.behave.resolve = (at) => void (at.parent === ctx && children.push(at))
      await invoke(question('chat/inner'), { ...STEP, parent: ctx })
    })
    expect((await ask(t)).status).toBe(200)
    await t.untilSettled()
    expect(children).toHaveLength(1)
    expect(recorder.of(children[0]!.id)).toEqual({
      resolve: 1,
      candidates: 1,
      call: 1,
      attempt: 1,
      prepare: 1,
      encoded: 1,
      response: 1,
    })
    expect(children[0]).toMatchObject({ ingress: null, source: 'panel' })
    expect(children[0]?.principal).toBe(t.settled[0]?.ctx.principal)
  })

  it('a child that fails leaves its attempts in the timeline and no step', async () => {
    const errors: unknown[] = []
    const { t } = await gateway(async (ctx, invoke) => {
      await invoke(question('chat/inner'), { ...STEP, parent: ctx, role: 'panel' }).catch(
        (error: unknown) => void errors.push(error),
      )
    })
    t.upstream.script(fail(500), text('fine'))
    expect((await ask(t)).status).toBe(200)
    await t.untilSettled()
    expect(errors).toMatchObject([{ status: 500 }])
    const { ctx, outcome } = t.settled[0]!
    expect(outcome.steps).toHaveLength(1)
    expect(ctx.attempts.map(({ role, status }) => [role, status])).toEqual([
      ['panel', 500],
      [undefined, 200],
    ])
  })

  it('a target skips resolve', async () => {
    const { t, recorder } = await gateway(async (ctx, invoke) => {
      const target = { provider: 'messages', model: 'direct', connectionId: null, weight: 1 }
      await invoke(question('whatever'), { ...STEP, parent: ctx, target })
    })
    expect((await ask(t)).status).toBe(200)
    expect(t.upstream.requests[0]).toMatchObject({ dialect: 'messages', json: { model: 'direct' } })
    expect(recorder.order.filter((hook) => hook === 'resolve')).toHaveLength(1)
  })

  it('ends when the parent does: the client left, the child’s upstream is closed', async () => {
    let started = false
    const { t } = await gateway(async (ctx, invoke) => {
      started = true
      await invoke(question('chat/inner'), { ...STEP, parent: ctx })
    })
    t.upstream.script(hang())
    const controller = new AbortController()
    const { path, body } = pathAndBody('chat', 'chat/m', false)
    void t.fetch(path, { method: 'POST', body: JSON.stringify(body), signal: controller.signal }).catch(() => {})
    await expect.poll(() => started && t.upstream.requests.length === 1, { interval: 1 }).toBe(true)
    controller.abort()
    await t.untilSettled()
    expect(t.settled).toHaveLength(1)
    expect(t.settled[0]?.outcome).toMatchObject({ status: 499 })
    await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })
})

describe('without a parent', () => {
  it.each([false, true])('it settles once, under its source (stream: %s)', async (stream) => {
    const { t, invoke, recorder } = await gateway(async () => {})
    t.upstream.script(text('probed'))
    expect(await read(await invoke(question('chat/m', stream), { operation: 'chat', source: 'probe', orgId: null }))).toBe(
      'probed',
    )
    await t.untilSettled()
    expect(t.settled).toHaveLength(1)
    const { ctx, outcome } = t.settled[0]!
    expect(ctx).toMatchObject({ source: 'probe', parent: null, ingress: null, principal: { orgId: null } })
    expect(outcome).toMatchObject({ status: 200, usage: { inputTotal: 12, outputTotal: 7 }, steps: [{ source: 'probe' }] })
    expect(recorder.of(ctx.id)).toMatchObject({ settle: 1, settled: 1 })
    expect(recorder.of(ctx.id).admit).toBeUndefined()
  })

  it('a failure settles too, with its status', async () => {
    const { t, invoke } = await gateway(async () => {})
    t.upstream.script(fail(503))
    await expect(invoke(question('chat/m'), { operation: 'chat', source: 'probe' })).rejects.toMatchObject({ status: 503 })
    await expect(invoke(question('nobody/m'), { operation: 'chat', source: 'probe' })).rejects.toMatchObject({
      code: 'model_not_found',
    })
    await t.untilSettled(2)
    expect(t.settled.map(({ outcome }) => outcome.status)).toEqual([503, 400])
  })

  it('a stream that nobody reads settles when it is cancelled', async () => {
    const { t, invoke } = await gateway(async () => {})
    t.upstream.script(reply({ text: 'fine, thank you' }, { stallAfter: 4 }))
    const result = await invoke(question('chat/m', true), { operation: 'chat', source: 'probe' })
    if (result.kind !== 'stream') throw new Error('not a stream')
    result.source.cancel()
    await t.untilSettled()
    expect(t.settled).toHaveLength(1)
    await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })

  it('its signal aborts the upstream', async () => {
    const { t, invoke } = await gateway(async () => {})
    t.upstream.script(hang())
    const controller = new AbortController()
    const running = invoke(question('chat/m'), { operation: 'chat', source: 'probe', signal: controller.signal })
    await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
    controller.abort()
    await expect(running).rejects.toMatchObject({ status: 499 })
    await t.untilSettled()
    expect(t.settled[0]?.outcome.status).toBe(499)
    await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })
})

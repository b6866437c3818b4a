// A streamed answer of an internal call passes the stream hooks of that call once, whoever reads or forwards it.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, reply, type TestGateway, text } from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { CanonicalRequest } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import { pathAndBody } from './support/wire.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

const question = (model: string): CanonicalRequest => ({
  model,
  stream: true,
  source: 'chat',
  system: [],
  tools: [],
  sampling: {},
  headers: {},
  ext: {},
  messages: [{ role: 'user', parts: [{ t: 'text', text: 'inner' }] }],
})

interface Marks {
  /** Contexts whose `stream` factory ran, and whose batches ran. */
  staged: RequestContext[]
  batched: RequestContext[]
}

/** Marks every text: `<` by the transform, `>` by the batch stage; the transform adds `.` at the end. */
function marker(marks: Marks, batch: boolean, refuse: (ctx: RequestContext, event?: StreamEvent) => void) {
  return definePlugin({
    name: 'marker',
    setup(gateway) {
      gateway.hook('stream', (ctx) => {
        marks.staged.push(ctx)
        refuse(ctx)
        return {
          event(event, emit) {
            refuse(ctx, event)
            emit(marked(event, '<'))
            if (event.e === 'delta') emit({ ...event, d: { text: '.' } })
          },
        }
      })
      if (!batch) return
      gateway.hook('stream:batch', async (ctx, events) => {
        if (!marks.batched.includes(ctx)) marks.batched.push(ctx)
        await Promise.resolve()
        return events.map((event) => marked(event, '>'))
      })
    },
  })()
}

function marked(event: StreamEvent, mark: string): StreamEvent {
  return event.e === 'delta' && 'text' in event.d ? { ...event, d: { text: mark + event.d.text } } : event
}

type Behave = (ctx: RequestContext, invoke: PluginGateway['invoke']) => Promise<Result | undefined>

async function gateway(
  behave: Behave,
  { batch = false, refuse = () => {} }: { batch?: boolean; refuse?: Parameters<typeof marker>[2] } = {},
) {
  const marks: Marks = { staged: [], batched: [] }
  const caller = definePlugin({
    name: 'caller',
    setup(gateway) {
      gateway.hook('call', async (ctx, next) => (await behave(ctx, gateway.invoke)) ?? next())
    },
  })()
  const t = await createTestGateway({ plugins: [caller, marker(marks, batch, refuse)] })
  closing.push(t)
  return { t, marks }
}

const inner = (ctx: RequestContext, invoke: PluginGateway['invoke'], model = 'messages/inner') =>
  invoke(question(model), { operation: 'chat', source: 'panel', parent: ctx })

async function read(result: Result): Promise<string> {
  if (result.kind !== 'stream') throw new Error(result.kind)
  let seen = ''
  const event = (event: StreamEvent) => {
    if (event.e === 'delta' && 'text' in event.d) seen += event.d.text
  }
  await result.source.pump({ event, frame() {}, ready: () => undefined })
  return seen
}

async function ask(t: TestGateway): Promise<string> {
  const answer = await (await t.post('/v1/chat/completions', pathAndBody('chat', 'chat/m', true).body)).text()
  await t.untilSettled()
  return answer
}

const textOf = (sse: string) => [...sse.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')

describe.each([false, true])('with a batch stage: %s', (batch) => {
  const once = batch ? '><yes>.' : '<yes.'
  const only = (list: RequestContext[], at: RequestContext | null) => list.every((ctx) => ctx === at || ctx.parent === at)

  it('a plugin that reads the answer sees it transformed, under the child', async () => {
    const answers: string[] = []
    const { t, marks } = await gateway(
      async (ctx, invoke) => {
        if (ctx.parent === null) answers.push(await read(await inner(ctx, invoke)))
        return undefined
      },
      { batch },
    )
    t.upstream.script(text('yes'), text('no'))
    const answer = await ask(t)
    expect(answers).toEqual([once])
    expect(textOf(answer)).toBe(once.replace('yes', 'no'))
    expect(marks.staged.map(({ source }) => source)).toEqual(['panel', 'api'])
    if (batch) expect(marks.batched.map(({ source }) => source)).toEqual(['panel', 'api'])
  })

  it('a parent that answers with it does not transform it again', async () => {
    const { t, marks } = await gateway(async (ctx, invoke) => (ctx.parent === null ? inner(ctx, invoke) : undefined), { batch })
    t.upstream.script(text('yes'))
    expect(textOf(await ask(t))).toBe(once)
    const parent = t.settled[0]!.ctx
    expect(marks.staged.map((ctx) => ctx.parent)).toEqual([parent])
    expect(only(marks.batched, parent)).toBe(true)
    expect(t.settled[0]?.outcome).toMatchObject({ status: 200, steps: [{ model: 'inner', status: 200, source: 'panel' }] })
  })

  it('nor does a child that answers with its own child’s', async () => {
    const depth = (ctx: RequestContext): number => (ctx.parent === null ? 0 : 1 + depth(ctx.parent))
    const { t, marks } = await gateway(async (ctx, invoke) => (depth(ctx) < 2 ? inner(ctx, invoke) : undefined), { batch })
    t.upstream.script(text('yes'))
    expect(textOf(await ask(t))).toBe(once)
    expect(marks.staged.map(depth)).toEqual([2])
  })
})

it('a transform that refuses midway ends the child and its parent’s stream in an error', async () => {
  const { t } = await gateway(async (ctx, invoke) => (ctx.parent === null ? inner(ctx, invoke) : undefined), {
    refuse: (_ctx, event) => {
      if (event?.e === 'delta' && 'text' in event.d && event.d.text.includes('cret')) throw GatewayError.blocked('no-secrets')
    },
  })
  t.upstream.script(reply({ text: 'a secret is told' }))
  const answer = await ask(t)
  expect(answer).toContain('no-secrets')
  expect(answer).not.toContain('[DONE]')
  expect(textOf(answer)).not.toContain('cret')
  expect(t.settled[0]?.outcome).toMatchObject({ status: 502, steps: [{ status: 502 }] })
})

it('a factory that refuses fails the call, and its upstream is closed', async () => {
  const errors: unknown[] = []
  const { t } = await gateway(
    async (ctx, invoke) => {
      if (ctx.parent === null) await inner(ctx, invoke).catch((error: unknown) => void errors.push(error))
      return undefined
    },
    {
      refuse: (ctx, event) => {
        if (ctx.parent !== null && event === undefined) throw GatewayError.blocked('no-panels')
      },
    },
  )
  t.upstream.script(reply({ text: 'fine, thank you' }, { stallAfter: 4 }), text('own'))
  expect(textOf(await ask(t))).toBe('<own.')
  expect(errors).toMatchObject([{ code: 'guardrail_blocked' }])
  await expect.poll(() => t.upstream.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  expect(t.settled).toHaveLength(1)
})

it('a whole answer of a child’s child is transformed once too', async () => {
  const seen: string[] = []
  const depth = (ctx: RequestContext): number => (ctx.parent === null ? 0 : 1 + depth(ctx.parent))
  const nested = definePlugin({
    name: 'nested',
    setup(gateway) {
      gateway.hook('call', (ctx, next) =>
        depth(ctx) < 2
          ? gateway.invoke({ ...question('chat/inner'), stream: false }, { operation: 'chat', source: 'panel', parent: ctx })
          : next(),
      )
      gateway.hook('response', (ctx) => void seen.push(String(depth(ctx))))
    },
  })()
  const t = await createTestGateway({ plugins: [nested] })
  closing.push(t)
  t.upstream.script(text('yes'))
  expect((await t.post('/v1/chat/completions', pathAndBody('chat', 'chat/m', false).body)).status).toBe(200)
  expect(seen).toEqual(['2'])
})

// A plugin that asks again, or throws, after a good answer: the vendor charged for that answer, so it is booked.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestGateway, fail, reply, type Step, type TestGateway } from '../../adapters/testing/index.ts'
import { sql } from '../../core/db/sql.ts'
import { definePlugin, GatewayError, type Result } from '../../core/index.ts'

let t: TestGateway
afterEach(() => t.close())

type Layer = (next: () => Promise<Result>) => Promise<Result>

const asksAgain: Layer = async (next) => {
  await next()
  return next()
}
const throws: Layer = async (next) => {
  await next()
  throw GatewayError.unavailable('The answer is not good enough.')
}

const ask = (model: string, stream = false) => ({ model, stream, messages: [{ role: 'user', content: '2+2' }] })
/** Caller's path and body. */
const CALLS: Record<string, [path: string, body: object]> = {
  'chat, passed through': ['/v1/chat/completions', ask('chat/m')],
  'chat, translated': ['/v1/chat/completions', ask('messages/m')],
  embeddings: ['/v1/embeddings', { model: 'chat/m', input: '2+2' }],
}
const STREAM: [path: string, body: object] = ['/v1/chat/completions', ask('chat/m', true)]
const FIRST = { input_tokens: 11, output_tokens: 3, estimated: 0 }
/** The scripted vendor counts the characters of an embedding's input. */
const VECTOR = { input_tokens: 3, output_tokens: 0, estimated: 0 }
const SECOND = { input_tokens: 13, output_tokens: 5, estimated: 0 }
const good = [reply({ text: 'five', usage: { input: 11, output: 3 } }), reply({ text: 'four', usage: { input: 13, output: 5 } })]

async function run(hook: 'attempt' | 'call', layer: Layer, [path, body]: [string, object], upstream: Step[]) {
  const asking = definePlugin({
    name: 'asking',
    setup(gateway) {
      if (hook === 'attempt') gateway.hook('attempt', (_ctx, _candidate, next) => layer(next), { order: 'pre' })
      else gateway.hook('call', (_ctx, next) => layer(next), { order: 'pre' })
    },
  })
  t = await createTestGateway({ plugins: [asking()], upstream })
  const response = await t.post(path, body)
  await response.arrayBuffer()
  await t.untilCommitted(1)
  const rows = await t.gateway.db?.all(sql`SELECT input_tokens, output_tokens, estimated FROM ledger_usage ORDER BY step`)
  return { ok: response.ok, asked: t.upstream.requests.length, rows }
}

describe.each(['attempt', 'call'] as const)('a layer around `%s`', (hook) => {
  describe.each(Object.entries(CALLS))('%s', (_name, call) => {
    const rows = call[0].endsWith('embeddings') ? [VECTOR, VECTOR] : [FIRST, SECOND]

    it('asks again: both answers are booked', async () => {
      expect(await run(hook, asksAgain, call, [...good])).toEqual({ ok: true, asked: 2, rows })
    })

    it('asks again and is refused: the first answer is booked', async () => {
      const found = await run(hook, asksAgain, call, [...good.slice(0, 1), fail(400), fail(400), fail(400)])
      expect(found).toEqual({ ok: false, asked: 2, rows: rows.slice(0, 1) })
    })

    it('throws: the answer is booked', async () => {
      const found = await run(hook, throws, call, good.slice(0, 1))
      expect(found).toEqual({ ok: false, asked: 1, rows: rows.slice(0, 1) })
    })
  })

  it('discards a stream: both are booked', async () => {
    const found = await run(hook, asksAgain, STREAM, [...good])
    expect(found).toEqual({ ok: true, asked: 2, rows: [FIRST, SECOND] })
  })

  it.each([
    ['asks again', asksAgain],
    ['throws', throws],
  ])('%s while a stream is open: its upstream call ends', async (_name, layer) => {
    await run(hook, layer, STREAM, [reply({ text: 'five and more' }, { stallAfter: 3 }), ...good])
    await vi.waitFor(() => expect(t.upstream.requests[0]?.abortedAt).not.toBeNull(), 3000)
    expect(t.settled[0]?.outcome.steps[0]).toMatchObject({ usage: { estimated: true } })
  })

  it('discards a stream without usage: it is booked by an estimate', async () => {
    const { rows } = await run(hook, asksAgain, STREAM, [reply({ text: 'five', usage: null }), ...good.slice(1)])
    expect(rows).toEqual([{ input_tokens: expect.any(Number), output_tokens: expect.any(Number), estimated: 1 }, SECOND])
    expect((rows?.[0] as { input_tokens: number }).input_tokens).toBeGreaterThan(0)
  })
})

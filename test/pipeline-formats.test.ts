// Cases of the wire formats that need a whole gateway, over real HTTP, for callers of all four formats.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  broken,
  createTestGateway,
  hang,
  RENDERERS,
  reply,
  type ScriptedUpstream,
  scriptedUpstream,
  type TestGateway,
  text,
} from '../adapters/testing/index.ts'
import type { ConnectionConfig } from '../core/config/define.ts'
import type { Dialect } from '../core/types/request/canonical.ts'
import { ask, type Call, post } from './adapters/node/support.ts'
import { answerOf, DIALECTS, saidBy } from './support/dialects.ts'
import { expectWithin } from './support/in-time.ts'

const ANSWER = 'A fine answer, wörld 👋'
const PING = ': ping\n\n'
/** Real time, and only where a heartbeat is due, so that a slow machine adds none to the other cases. */
const HEARTBEAT_MS = 40

let upstream: ScriptedUpstream
let t: TestGateway
let url: string

beforeAll(async () => {
  upstream = await scriptedUpstream(text(ANSWER))
  const connections: Record<string, ConnectionConfig> = {}
  for (const dialect of DIALECTS) {
    const account = { baseUrl: upstream.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-upstream' }
    connections[`one-${dialect}.1`] = { provider: `one-${dialect}`, ...account }
    for (const index of [1, 2]) connections[`two-${dialect}.${index}`] = { provider: `two-${dialect}`, ...account }
  }
  t = await createTestGateway({ config: { connections } })
  url = (await t.listen()).url
})
afterAll(async () => {
  await t.close()
  await upstream.close()
})

const pairs = DIALECTS.flatMap((caller) => DIALECTS.map((target) => ({ caller, target })))
const headOf = (dialect: Dialect) => RENDERERS[dialect].frames({ text: '§§' }).findIndex((frame) => frame.includes('§§'))

/** Returns the settlement of the request that `run` sends. */
async function settledAfter<T>(
  run: () => Promise<T>,
): Promise<{ result: T; outcome: TestGateway['settled'][number]['outcome'] }> {
  const before = t.settled.length
  const result = await run()
  await t.untilSettled(before + 1)
  return { result, outcome: t.settled[before]!.outcome }
}

describe('a stream error before the first content', () => {
  it.each(DIALECTS)('is an HTTP status for %s callers', async (caller) => {
    for (const target of DIALECTS) {
      upstream.script(broken({ text: ANSWER }, headOf(target), { message: 'no more', status: 503 }))
      const { result, outcome } = await settledAfter(async () => {
        const response = await post(url, ask(caller, `one-${target}/m`, { stream: true }))
        return { status: response.status, type: response.headers.get('content-type'), body: await response.json() }
      })
      expect(result.status, target).toBeGreaterThanOrEqual(500)
      expect(result.type, target).toMatch(/^application\/json/)
      expect(result.body, target).toHaveProperty('error.message')
      expect(outcome, target).toMatchObject({ status: result.status, aborted: false, steps: [] })
    }
  })

  it.each(DIALECTS)('lets another account answer %s callers', async (caller) => {
    for (const target of DIALECTS) {
      upstream.script(broken({ text: ANSWER }, headOf(target), { status: 503 }), text(ANSWER))
      const response = await post(url, ask(caller, `two-${target}/m`, { stream: true }))
      expect([response.status, response.headers.get('x-gateway-attempts')], target).toEqual([200, '2'])
      expect(saidBy(answerOf(caller, await response.text(), true)).text, target).toBe(ANSWER)
    }
  })
})

describe('heartbeats', () => {
  it.each(DIALECTS)('come between the frames of %s callers, however the upstream splits them', async (caller) => {
    const run = async (target: Dialect) => {
      const frames = RENDERERS[target].frames({ text: ANSWER, chunk: 8 }).join('')
      // Every read ends inside a frame, and the next one comes long after a heartbeat is due.
      const splitBytes = Math.ceil(new TextEncoder().encode(frames).length / 5.3)
      const own = await scriptedUpstream(reply({ text: ANSWER, chunk: 8 }, { splitBytes, everyMs: HEARTBEAT_MS * 3 }))
      const gateway = await quick(target, own)
      const body = await (await post((await gateway.listen()).url, ask(caller, 'own/m', { stream: true }))).text()
      await gateway.close()
      await own.close()
      const pieces = body.split(/\r?\n\r?\n/)
      expect(pieces.pop(), 'the last frame is whole').toBe('')
      expect(pieces.filter((piece) => piece === PING.trim()).length, target).toBeGreaterThan(1)
      for (const piece of pieces)
        if (piece !== PING.trim()) expect(piece, target).toMatch(/^(event: [\w.]+\n)?data: (\{.*\}|\[DONE\])$/)
      expect(saidBy(answerOf(caller, body, true)).text, target).toBe(ANSWER)
    }
    await Promise.all(DIALECTS.map(run))
  })

  it('are never in a JSON array', async () => {
    for (const target of DIALECTS) {
      const own = await scriptedUpstream(reply({ text: ANSWER }, { delayMs: HEARTBEAT_MS * 3, everyMs: HEARTBEAT_MS }))
      const gateway = await quick(target, own)
      const { path, body } = ask('generate_content', 'own/m', { stream: true })
      const response = await post((await gateway.listen()).url, { path: path.replace('?alt=sse', ''), body })
      const array = await response.text()
      await gateway.close()
      await own.close()
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(array).not.toContain('ping')
      const items = JSON.parse(array) as { candidates: { content: { parts: { text: string }[] } }[] }[]
      expect(items.map((item) => item.candidates[0]?.content.parts[0]?.text ?? '').join(''), target).toBe(ANSWER)
    }
  })
})

describe('a caller that leaves', () => {
  it.each(pairs)('$caller → $target, in the middle of a stream', async ({ caller, target }) => {
    await expectWithin(100, async () => {
      upstream.script(text(ANSWER.repeat(20), { everyMs: 3, stallAfter: 30 }))
      const calls = upstream.requests.length
      const { result, outcome } = await settledAfter(async () => {
        const leaving = new AbortController()
        const response = await post(url, ask(caller, `one-${target}/m`, { stream: true }), { signal: leaving.signal })
        for await (const chunk of response.body!) if (new TextDecoder().decode(chunk).includes('fine')) break
        const at = performance.now()
        leaving.abort()
        return at
      })
      expect(outcome).toMatchObject({ status: 499, aborted: true, steps: [{ status: 499 }] })
      expect(outcome.usage.inputTotal).toBeGreaterThan(0)
      expect(outcome.usage.outputTotal).toBeGreaterThan(0)
      return abortedAfter(calls, result)
    })
  })

  it.each(DIALECTS)('%s, before any answer', async (caller) => {
    const leaves = async (stream: boolean) => {
      upstream.script(hang())
      const calls = upstream.requests.length
      const { result, outcome } = await settledAfter(async () => {
        const leaving = new AbortController()
        const asking = post(url, ask(caller, 'two-chat/m', { stream }), { signal: leaving.signal })
        await expect.poll(() => upstream.requests.length, { interval: 1 }).toBe(calls + 1)
        const at = performance.now()
        leaving.abort()
        // A heartbeat may have opened the stream already.
        await asking.then((response) => response.text()).catch(() => {})
        return at
      })
      expect(outcome).toMatchObject({ status: 499, aborted: true, usage: { total: 0 } })
      expect(upstream.requests.length, 'nobody else is asked').toBe(calls + 1)
      return abortedAfter(calls, result)
    }
    for (const stream of [true, false]) await expectWithin(100, () => leaves(stream))
  })
})

describe('an upstream that answers with a stream instead of a whole body, or the reverse', () => {
  const asked = async (caller: Dialect, call: Call, stream: boolean) => {
    const { result, outcome } = await settledAfter(async () => {
      const response = await post(url, call)
      return { type: response.headers.get('content-type'), body: await response.text() }
    })
    expect(result.type).toMatch(stream ? /^text\/event-stream/ : /^application\/json/)
    expect(outcome).toMatchObject({ status: 200, usage: { inputTotal: 12, outputTotal: 7, estimated: false } })
    const answer = answerOf(caller, result.body, stream)
    expect(answer.choices.map(({ finish }) => finish)).toEqual(['tool_calls'])
    expect(answer.choices[0]?.parts.find((part) => part.t === 'tool_call')).toMatchObject({ name: 'f', args: '{"x":1}' })
    return saidBy(answer).text
  }
  const turn = { text: ANSWER, toolCalls: [{ id: 'call_abcdefghijklmnopqrstuvwx', name: 'f', args: '{"x":1}' }] }

  it.each(pairs)('$caller → $target: a whole JSON body where a stream was asked', async ({ caller, target }) => {
    upstream.script(reply(turn, { as: 'json' }))
    expect(await asked(caller, ask(caller, `one-${target}/m`, { stream: true }), true)).toBe(ANSWER)
    upstream.script(reply(turn, { as: 'json', contentType: 'text/event-stream' }))
    expect(await asked(caller, ask(caller, `one-${target}/m`, { stream: true }), true)).toBe(ANSWER)
  })

  it.each(pairs)('$caller → $target: a stream under a JSON content type', async ({ caller, target }) => {
    upstream.script(reply(turn, { contentType: 'application/json' }))
    expect(await asked(caller, ask(caller, `one-${target}/m`, { stream: true }), true)).toBe(ANSWER)
  })

  it.each(pairs)('$caller → $target: a stream where a whole answer was asked', async ({ caller, target }) => {
    upstream.script(reply(turn, { as: 'sse' }))
    expect(await asked(caller, ask(caller, `one-${target}/m`), false)).toBe(ANSWER)
  })
})

/** A separate gateway for one upstream, so that slow cells run in parallel. */
function quick(target: Dialect, own: ScriptedUpstream): Promise<TestGateway> {
  return createTestGateway({
    config: {
      connections: { own: { provider: 'own', baseUrl: own.baseUrl(target), wireFormat: target, apiKey: 'sk-upstream' } },
    },
    env: { STREAM_HEARTBEAT_MS: String(HEARTBEAT_MS) },
  })
}

/** Returns how long after `at` the upstream saw the end of this call, ms. */
async function abortedAfter(call: number, at: number): Promise<number> {
  await expect.poll(() => upstream.requests[call]?.abortedAt, { interval: 1 }).not.toBeNull()
  return (upstream.requests[call]?.abortedAt as number) - at
}

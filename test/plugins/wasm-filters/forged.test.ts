// Whatever JSON a guest makes up: it is refused, or it is a request or an answer that every dialect can write.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'
import { chunkDecision, readAnswer, requestDecision, responseDecision } from '../../../plugins/wasm-filters/decision.ts'
import { FilterFailure } from '../../../plugins/wasm-filters/failure.ts'
import { canonicalRequest, DIALECTS, DRIVERS, streamText, toolCall, user, warningCodec } from '../../support/dialects.ts'

const REQUEST = canonicalRequest({
  model: 'chat/m',
  source: 'chat',
  system: [{ role: 'system', parts: [{ t: 'text', text: 'Be kind.' }] }],
  messages: [
    user('Look', { t: 'image', src: { kind: 'base64', data: 'AAAA', mime: 'image/png' } }),
    { role: 'assistant', parts: [{ t: 'reasoning', text: 'Hm.' }, toolCall('call_1', 'look', '{"a":1}')] },
    { role: 'tool', parts: [{ t: 'tool_result', callId: 'call_1', parts: [{ t: 'text', text: 'seen' }] }] },
  ],
  tools: [{ t: 'function', name: 'look', description: 'Looks.', schema: { type: 'object' } }],
  toolChoice: { mode: 'tool', name: 'look' },
  output: { kind: 'json_schema', name: 'x', schema: { type: 'object' } },
  reasoning: { effort: 'low' },
  maxTokens: 100,
  sampling: { temperature: 0.5, logitBias: { 1: 2 } },
  stop: ['END'],
  metadata: { a: 'b' },
})
const RESPONSE: CanonicalResponse = {
  id: 'x',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, parts: [{ t: 'text', text: 'Hi' }, toolCall('call_1', 'look')], finish: 'tool_calls', nativeFinish: 'x' },
  ],
  usage: { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null },
  ext: {},
}
const EVENTS: StreamEvent[] = [
  { e: 'start', id: 'x', model: 'm', created: 1 },
  { e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} },
  { e: 'delta', choice: 0, part: 0, d: { text: 'Hi' } },
  { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: 'Hi' } },
  { e: 'finish', choice: 0, finish: 'stop', native: 'stop' },
  { e: 'end' },
]

/** Every path of a value, itself first. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return [path, ...keys.flatMap((key) => pathsOf((value as Record<string, unknown>)[key as string], [...path, key]))]
}

/** The value with something else at a place, or another member beside it. */
function forged(value: unknown): fc.Arbitrary<string> {
  const paths = pathsOf(value).filter(({ length }) => length > 0)
  const odd = fc.oneof(
    fc.constantFrom(null, true, 0, -1, 1e300, '', '__proto__', [], {}, { t: 'text' }, [[]], 'x\r\ny: z', '\ud800'),
    fc.jsonValue({ maxDepth: 3 }),
  )
  return fc.array(fc.tuple(fc.constantFrom(...paths), odd), { minLength: 1, maxLength: 3 }).map((changes) => {
    const copy = structuredClone(value) as Record<string, unknown>
    for (const [path, other] of changes) {
      let at = copy as Record<string | number, unknown>
      for (const key of path.slice(0, -1)) at = (at?.[key] ?? {}) as Record<string | number, unknown>
      if (typeof at === 'object') at[path.at(-1) as string] = other
    }
    return JSON.stringify(copy)
  })
}

/** What of it the schema lets through; undefined where it is refused. */
function accepted<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    expect(error).toBeInstanceOf(FilterFailure)
    expect((error as FilterFailure).reason).toBe('bad_output')
    return undefined
  }
}

/** A refusal that says why is an answer. */
function written(write: () => string | object): void {
  try {
    write()
  } catch (error) {
    if (!GatewayError.is(error)) throw error
    expect(error.status).toBeLessThan(500)
  }
}

const RUNS = { numRuns: 1500, seed: 11 }

describe('forged JSON', () => {
  it('as a request is refused, or can be written in every dialect', () => {
    let passed = 0
    const check = (text: string): void => {
      const decision = accepted(() => readAnswer(requestDecision, text))
      if (decision?.action !== 'replace') return
      passed++
      for (const dialect of DIALECTS)
        written(() => DRIVERS[dialect].encodeRequest(decision.request as CanonicalRequest, warningCodec(DRIVERS[dialect], {})))
    }
    fc.assert(fc.property(forged({ action: 'replace', request: REQUEST }), check), RUNS)
    expect(passed).toBeGreaterThan(50)
  })

  it('as an answer is refused, or can be written in every dialect', () => {
    let passed = 0
    const check = (text: string): void => {
      const decision = accepted(() => readAnswer(responseDecision, text))
      if (decision?.action !== 'replace') return
      passed++
      for (const dialect of DIALECTS)
        written(() => DRIVERS[dialect].encodeResponse(decision.response, warningCodec(DRIVERS[dialect], { request: REQUEST })))
    }
    fc.assert(fc.property(forged({ action: 'replace', response: RESPONSE }), check), RUNS)
    expect(passed).toBeGreaterThan(50)
  })

  it('as events is refused, or the parts of it can be written in every dialect', () => {
    let passed = 0
    const check = (text: string): void => {
      const decision = accepted(() => readAnswer(chunkDecision, text))
      if (decision?.action !== 'replace') return
      const parts = decision.events.filter(({ e }) => ['part_start', 'delta', 'part_stop'].includes(e))
      if (parts.map(({ e }) => e).join() !== 'part_start,delta,part_stop') return
      passed++
      const events = [EVENTS[0], ...parts, ...EVENTS.slice(4)] as StreamEvent[]
      for (const dialect of DIALECTS)
        written(() => streamText(DRIVERS[dialect], events, warningCodec(DRIVERS[dialect], { request: REQUEST })))
    }
    fc.assert(fc.property(forged({ action: 'replace', events: EVENTS }), check), RUNS)
    expect(passed).toBeGreaterThan(50)
  })

  it('of any other kind is refused', () => {
    const any = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue({ maxDepth: 8 }).map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(any, (text) => {
        for (const schema of [requestDecision, responseDecision, chunkDecision]) accepted(() => readAnswer(schema, text))
      }),
      { numRuns: 300, seed: 11 },
    )
    expect({}).not.toHaveProperty('polluted')
  })
})

// Contract tests for a dialect driver: decode and encode agree, for every split of the bytes, and a truncated answer never counts as
// complete.
import assert from 'node:assert/strict'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../core/http/headers.ts'
import { parsedBody } from '../../../core/json/wire-body.ts'
import { collector } from '../../../core/stream/collect.ts'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { Json, Part } from '../../../core/types/request/canonical.ts'
import type { CodecContext, DialectDriver, FrameFilter } from '../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'
import type { Reply, ReplyRenderer } from '../replies/reply.ts'
import type { ContractCase } from './contract.ts'

const CALL = { id: 'call_abcdefghijklmnopqrstuvwx', name: 'get_weather', args: '{"city":"Oslo"}' }

/** One reply for each kind of answer. */
export const CONTRACT_REPLIES: Readonly<Record<string, Reply>> = {
  text: { text: 'Hello, wörld 👋, this is an answer.' },
  'a tool call': { toolCalls: [CALL] },
  'text and parallel tool calls': {
    text: 'Let me look.',
    toolCalls: [CALL, { ...CALL, id: 'call_zyxwvutsrqponmlkjihgfedc', args: '{"city":"Rome"}' }],
  },
  'reasoning and text': { reasoning: { text: 'Thinking it through.' }, text: 'Done.' },
  'a length stop': { text: 'Cut of', finish: 'length' },
  'cached usage': { text: 'ok', usage: { input: 100, cacheRead: 80, output: 9, reasoning: 0 } },
}

export function dialectContract(driver: DialectDriver, replies: ReplyRenderer): ContractCase[] {
  return [
    ...Object.entries(CONTRACT_REPLIES).flatMap(([name, reply]) => replyCases(driver, replies, name, reply)),
    ...errorCases(driver, replies),
  ]
}

function replyCases(driver: DialectDriver, replies: ReplyRenderer, name: string, reply: Reply): ContractCase[] {
  const bytes = new TextEncoder().encode(replies.frames(reply).join(''))
  const whole = () =>
    driver.decodeResponse(parsedBody(new TextEncoder().encode(JSON.stringify(replies.json(reply)))), contractContext(driver))
  const streamed = (cut: number) => {
    const all = collector()
    for (const event of decode(driver, bytes, cut)) all.event(event)
    return all.response()
  }
  return [
    {
      name: `${name}: a stream and a whole answer mean the same`,
      run: () => assert.deepEqual(answerMeaning(streamed(bytes.length)), answerMeaning(whole())),
    },
    {
      name: `${name}: every split of the bytes gives the same events`,
      run() {
        const expected = decode(driver, bytes, bytes.length).map(stable)
        for (let cut = 1; cut < bytes.length; cut++)
          assert.deepEqual(decode(driver, bytes, cut).map(stable), expected, `cut at ${cut}`)
      },
    },
    {
      name: `${name}: what the encoder writes, the decoder reads`,
      run() {
        const encoder = driver.encodeStream(contractContext(driver))
        const text = decode(driver, bytes, bytes.length)
          .map((event) => encoder.event(event))
          .join('')
        const again = collector()
        for (const event of decode(driver, new TextEncoder().encode(text), text.length)) again.event(event)
        assert.deepEqual(answerMeaning(again.response()), answerMeaning(streamed(bytes.length)))
        const answer = parsedBody(new TextEncoder().encode(driver.encodeResponse(whole(), contractContext(driver))))
        assert.deepEqual(answerMeaning(driver.decodeResponse(answer, contractContext(driver))), answerMeaning(whole()))
      },
    },
    {
      name: `${name}: the byte lane sees the same usage and finish`,
      run() {
        const filter = filtered(driver, bytes, bytes.length)
        const { usage, choices } = whole()
        assert.equal(filter.facts.error, null)
        assert.equal(filter.facts.terminal, true)
        assert.equal(filter.facts.finish, choices[0]?.finish)
        assert.equal(filter.facts.usage?.inputTotal, usage.inputTotal)
        assert.equal(filter.facts.usage?.outputTotal, usage.outputTotal)
      },
    },
    {
      name: `${name}: cut before its end it is an error in both lanes, never an answer`,
      run() {
        const frames = replies.frames(reply)
        const half = new TextEncoder().encode(frames.slice(0, Math.max(1, Math.floor(frames.length / 2))).join(''))
        assert.ok(
          decode(driver, half, half.length).some((event) => event.e === 'error'),
          'events lane',
        )
        assert.notEqual(filtered(driver, half, half.length).facts.error, null, 'byte lane')
      },
    },
  ]
}

function errorCases(driver: DialectDriver, replies: ReplyRenderer): ContractCase[] {
  return [
    {
      name: 'vendor errors keep their status and message',
      run() {
        for (const status of [400, 401, 404, 429, 500, 503]) {
          const body = new TextEncoder().encode(JSON.stringify(replies.error(status, 'the vendor says no')))
          const error = driver.decodeError(status, headerBag(), body)
          assert.equal(error.upstream?.status, status)
          assert.match(error.message, /the vendor says no/)
        }
      },
    },
    {
      name: 'an error body that is no JSON is an error all the same',
      run: () =>
        assert.equal(
          driver.decodeError(502, headerBag(), new TextEncoder().encode('<html>Bad gateway</html>')).upstream?.status,
          502,
        ),
    },
    {
      name: 'own errors carry message, type, param and code',
      run() {
        const text = driver.encodeError(GatewayError.invalid('temperature', 'too hot'), 'req_1')
        const { error } = JSON.parse(text) as { error: Record<string, Json> }
        // Google's `code` is the HTTP status; the other dialects send a text or null.
        const code = driver.id === 'generate_content' ? 400 : null
        assert.deepEqual(
          { ...error, status: undefined },
          { message: 'too hot', type: 'invalid_request_error', param: 'temperature', code, status: undefined },
        )
      },
    },
    {
      name: 'an error inside a stream is an error event',
      run() {
        const bytes = new TextEncoder().encode(replies.errorFrames('overloaded', 503).join(''))
        const events = decode(driver, bytes, bytes.length).map(({ e }) => e)
        assert.equal(events.at(-1), 'error', events.join())
        assert.notEqual(filtered(driver, bytes, bytes.length).facts.error, null)
      },
    },
  ]
}

/** A neutral codec: no facts are known, and caller and upstream speak the driver's dialect. */
export function contractContext(driver: DialectDriver, facts: Partial<CodecContext> = {}): CodecContext {
  let count = 0
  return {
    provider: 'contract',
    model: 'model-1',
    caller: driver.id,
    upstream: driver.id,
    operation: 'chat',
    caps: { family: 'contract' },
    quirks: {},
    requestId: 'req_contract',
    stream: true,
    includeUsage: true,
    sse: true,
    names: new Map(),
    notes: new Map(),
    request: null,
    warn() {},
    now: () => 1_700_000_000_000,
    id: (prefix) => `${prefix}${String(++count).padStart(24, '0')}`,
    ...facts,
  }
}

function decode(driver: DialectDriver, bytes: Uint8Array, cut: number): StreamEvent[] {
  const events: StreamEvent[] = []
  const decoder = driver.decodeStream(contractContext(driver))
  const splitter = createSseSplitter()
  const onFrame = (frame: Parameters<typeof decoder.frame>[0]) =>
    decoder.frame(frame, (event) => events.push(structuredClone(event)))
  splitter.push(bytes.slice(0, cut), onFrame)
  if (cut < bytes.length) splitter.push(bytes.slice(cut), onFrame)
  splitter.end(onFrame)
  decoder.end((event) => events.push(structuredClone(event)))
  return events
}

function filtered(driver: DialectDriver, bytes: Uint8Array, cut: number): FrameFilter {
  const filter = driver.filterStream(contractContext(driver))
  const splitter = createSseSplitter()
  splitter.push(bytes.slice(0, cut), (frame) => void filter.frame(frame))
  splitter.end((frame) => void filter.frame(frame))
  filter.end()
  return filter
}

/** Returns the meaning of an answer, without generated ids and vendor-specific values. */
export function answerMeaning(response: CanonicalResponse): unknown {
  return {
    choices: response.choices.map(({ parts, finish }) => ({ finish, parts: parts.map(partMeaning) })),
    usage: [response.usage.inputTotal, response.usage.cacheRead, response.usage.outputTotal],
  }
}

function partMeaning(part: Part): unknown {
  if (part.t === 'text' || part.t === 'refusal') return [part.t, part.text]
  if (part.t === 'reasoning') return [part.t, part.text || (part.summary ?? []).join('\n\n')]
  if (part.t === 'tool_call') return [part.t, part.name, JSON.parse(part.args || '{}')]
  return [part.t]
}

function stable(event: StreamEvent): unknown {
  return event.e === 'start' ? { ...event, id: '' } : event
}

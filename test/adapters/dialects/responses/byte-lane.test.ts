import { describe, expect, it } from 'vitest'
import { responsesReplies } from '../../../../adapters/testing/replies/responses.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { createSseSplitter } from '../../../../core/stream/sse.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { FrameFilter } from '../../../../core/types/request/dialect.ts'
import { codec, driver, sdkResponse, type Wire, wireEvents } from './support.ts'

function filter(text: string): { out: string; filter: FrameFilter } {
  const filter = driver.filterStream(codec())
  let out = ''
  const take = (value: Uint8Array | string | null) => {
    if (value !== null) out += typeof value === 'string' ? value : decodeUtf8(value)
  }
  const splitter = createSseSplitter()
  splitter.push(new TextEncoder().encode(text), (frame) => take(filter.frame(frame)))
  splitter.end((frame) => take(filter.frame(frame)))
  out += filter.end()
  return { out, filter }
}

describe('responses: the byte lane', () => {
  const reply = { text: 'hello', reasoning: { text: 'hm' }, toolCalls: [{ id: 'c', name: 'f', args: '{"a":"\\""}' }] }

  it('forwards every byte and keeps the facts', () => {
    const text = `: hi\n\n${responsesReplies.frames(reply).join('')}`
    const { out, filter: done } = filter(text)
    expect(out).toBe(text)
    expect(done.facts).toMatchObject({
      content: true,
      terminal: true,
      finish: 'tool_calls',
      error: null,
      usage: { inputTotal: 12, outputTotal: 7 },
    })
    const size = 'hello'.length + 'hm'.length + reply.toolCalls[0]!.args.length
    expect(done.facts.contentBytes).toBeGreaterThanOrEqual(size)
    expect(done.facts.contentBytes).toBeLessThanOrEqual(size + 8)
  })

  it('reads frames without event lines and with other spacing alike', () => {
    const text = responsesReplies
      .frames(reply)
      .map(
        (frame) => `data: ${JSON.stringify(JSON.parse(frame.split('\ndata: ')[1] as string), null, 1).replaceAll('\n', '')}\n\n`,
      )
      .join('')
    const { out, filter: done } = filter(text)
    expect(out).toBe(text)
    expect(done.facts).toMatchObject({ content: true, terminal: true, finish: 'tool_calls' })
  })

  it('drops [DONE] and completes a usage that Codex would refuse', () => {
    const frames = responsesReplies.frames({ text: 'hello' })
    const last = JSON.parse((frames.pop() as string).split('\ndata: ')[1] as string)
    last.response.usage = { input_tokens: 3, output_tokens: 2 }
    const { out, filter: done } = filter(
      `${frames.join('')}event: ${last.type}\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`,
    )
    expect(out).not.toContain('[DONE]')
    expect(wireEvents(out).at(-1).response.usage).toMatchObject({
      total_tokens: 5,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
    expect(done.facts.usage).toMatchObject({ inputTotal: 3, outputTotal: 2 })
  })

  it('a cut stream fails with the partial output and the next sequence number', async () => {
    const frames = responsesReplies.frames({ text: 'hello world', toolCalls: [{ id: 'c', name: 'f', args: '{"a":1}' }] })
    for (let cut = 1; cut < frames.length; cut++) {
      const { out, filter: broken } = filter(frames.slice(0, cut).join(''))
      expect(broken.facts.error).toMatchObject({ status: 502 })
      const text = out + broken.error(broken.facts.error as GatewayError)
      const events = wireEvents(text)
      expect(events.map((event: Wire) => event.sequence_number)).toEqual(events.map((_: Wire, index: number) => index))
      const before = events
        .slice(0, -1)
        .reduce((all: string, event: Wire) => (event.type === 'response.output_text.delta' ? all + event.delta : all), '')
      const response = await sdkResponse(text)
      expect(response.status).toBe('failed')
      expect(response.output_text).toBe(before)
    }
  })

  it('an error inside the stream is held back and shown as response.failed', () => {
    const start = responsesReplies.frames({ text: 'hello' }).slice(0, 6).join('')
    const { out, filter: broken } = filter(start + responsesReplies.errorFrames('slow down', 429).join(''))
    expect(out).toBe(start)
    expect(broken.facts.error).toMatchObject({ status: 429, message: 'slow down' })
    expect(wireEvents(broken.error(broken.facts.error as GatewayError))[0].response.error).toEqual({
      code: 'rate_limit_exceeded',
      message: 'slow down',
    })
  })

  it('a failed response keeps the vendor’s code and usage', () => {
    const { filter: broken } = filter(responsesReplies.frames({ text: 'hello', finish: 'error' }).join(''))
    expect(broken.facts).toMatchObject({ error: { status: 500 }, usage: { inputTotal: 12 } })
    const { response } = wireEvents(broken.error(GatewayError.unavailable('masked')))[0]
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'masked' },
      usage: { input_tokens: 12 },
    })
    expect(response.output).toHaveLength(1)
  })

  it('an error before anything begins the stream properly; malformed frames are errors', () => {
    const fresh = driver.filterStream(codec())
    expect(wireEvents(fresh.error(GatewayError.timeout('late'))).map((event: Wire) => event.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
    for (const bad of [
      'data: {bad\n\n',
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"ab\n\n',
    ]) {
      const { filter: broken, out } = filter(bad)
      expect(broken.facts.error).toMatchObject({ status: 502 })
      expect(out).toBe('')
    }
  })

  it('splices the model and forwards the dialect’s own headers; every other byte stays', () => {
    const body = wireBody('{"model":"openai/gpt-5.6","input":"x","seed": 9223372036854775807}')
    const { path, headers } = driver.spliceRequest(body, codec(), headerBag(['OpenAI-Beta', 'x', 'authorization', 'y']))
    expect(path).toBe('/v1/responses')
    expect(headers).toEqual(['openai-beta', 'x'])
    expect(decodeUtf8(body.bytes)).toBe('{"model":"gpt-5.6","input":"x","seed": 9223372036854775807}')
  })

  it('items that carry another vendor’s secret are taken out', () => {
    const secret = wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: 's' })
    const input = [
      { type: 'message', id: 'msg_0', role: 'user', content: 'x' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: secret },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAA' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
    ]
    const body = wireBody(JSON.stringify({ model: 'm', input }))
    driver.spliceRequest(body, codec(), headerBag([]))
    expect(body.get('input')).toEqual([input[0], input[2], { type: 'message', role: 'assistant', content: [] }])
  })
  it('thoughts without a secret, under an id that the gateway made up, are taken out', () => {
    const input = [
      { type: 'reasoning', id: 'rs_0123456789abcdefABCDEF01', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'reasoning', id: 'rs_68f2c1d5b0c08190a1b2c3d4e5f607180011223344556677', summary: [] },
    ]
    const body = wireBody(JSON.stringify({ model: 'm', input }))
    driver.spliceRequest(body, codec(), headerBag([]))
    expect(body.get('input')).toEqual([input[1]])
  })
})

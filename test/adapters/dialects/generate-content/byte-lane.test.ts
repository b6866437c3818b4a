import { describe, expect, it } from 'vitest'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { createSseSplitter } from '../../../../core/stream/sse.ts'
import type { CodecContext, FrameFilter } from '../../../../core/types/request/dialect.ts'
import { codec, driver } from './support.ts'

function run(
  text: string,
  on: CodecContext = codec({ caller: 'generate_content', stream: true }),
): { out: string; filter: FrameFilter } {
  const filter = driver.filterStream(on)
  const splitter = createSseSplitter()
  const decoder = new TextDecoder()
  let out = ''
  const onFrame = (frame: Parameters<FrameFilter['frame']>[0]): void => {
    const result = filter.frame(frame)
    if (result !== null) out += typeof result === 'string' ? result : decoder.decode(result)
  }
  splitter.push(new TextEncoder().encode(text), onFrame)
  splitter.end(onFrame)
  out += filter.end()
  if (filter.facts.error !== null) out += filter.error(filter.facts.error)
  return { out, filter }
}

const splice = (text: string, on: CodecContext = codec()): { sent: string; path: string; headers: string[] } => {
  const body = wireBody(text)
  const { path, headers } = driver.spliceRequest(body, on, headerBag(['idempotency-key', 'k', 'authorization', 'x']))
  return { sent: new TextDecoder().decode(body.bytes), path, headers }
}

describe('generate-content byte lane', () => {
  it('forwards the vendor’s frames untouched and keeps the facts', () => {
    const frames = generateContentReplies
      .frames({ text: 'Grüße', toolCalls: [{ id: 'a', name: 'f', args: '{"x":1}' }], usage: { input: 3, output: 5 } })
      .join('')
    const { out, filter } = run(frames)
    expect(out).toBe(frames)
    expect(filter.facts).toMatchObject({
      content: true,
      contentBytes: 7 + 7,
      terminal: true,
      finish: 'tool_calls',
      error: null,
      usage: { inputTotal: 3, outputTotal: 5 },
    })
  })

  it('re-renders what Google’s SDK would lose: glued comments, event lines, split data, no blank line', () => {
    const frames = `: hi\n\nevent: message\ndata: {"candidates":[{"content":\ndata: {"parts":[{"text":"a"}]}}]}\n\n: glued\ndata: {"x":1}\n\ndata: [DONE]\n\ndata: {"candidates":[{"finishReason":"STOP"}]}`
    expect(run(frames).out).toBe(
      'data: {"candidates":[{"content": {"parts":[{"text":"a"}]}}]}\n\ndata: {"x":1}\n\ndata: {"candidates":[{"finishReason":"STOP"}]}\n\n',
    )
  })

  it('renders a JSON array for callers without alt=sse, valid also after an error', () => {
    const on = codec({ caller: 'generate_content', sse: false })
    const frames = generateContentReplies.frames({ text: 'Hello' })
    expect(JSON.parse(run(frames.join(''), on).out)).toHaveLength(frames.length)
    const broken = JSON.parse(run(frames[0] as string, on).out) as object[]
    expect(broken.at(-1)).toMatchObject({
      error: { message: 'The upstream closed the stream before it was complete.', code: 502, status: 'UNAVAILABLE' },
    })
    expect(JSON.parse(run('', on).out)).toHaveLength(1)
    expect(JSON.parse(driver.filterStream(on).error(GatewayError.timeout('slow')))).toHaveLength(1)
  })

  it('an error inside the stream is not forwarded and becomes the error frame of the caller’s format', () => {
    const { out, filter } = run(
      generateContentReplies.frames({ text: 'abcdefgh' })[0] + generateContentReplies.errorFrames('busy', 503).join(''),
    )
    expect(filter.facts.error).toMatchObject({ status: 503, upstream: { kind: 'stream', vendorCode: 'UNAVAILABLE' } })
    expect(out.split(/\r?\n\r?\n/).at(-2)).toBe('data: {"error":{"message":"busy","code":503,"status":"UNAVAILABLE"}}')
  })

  it('a stream that is cut is an error', () => {
    const { filter } = run(generateContentReplies.frames({ text: 'abcdefgh' })[0] as string)
    expect(filter.facts).toMatchObject({ content: true, terminal: false, error: { status: 502, upstream: { kind: 'reset' } } })
    expect(run('data: {bad\n\n').filter.facts.error).toMatchObject({ status: 502 })
  })

  it('does not take a finish without words for content', () => {
    expect(run(generateContentReplies.frames({}).join('')).filter.facts).toMatchObject({
      content: false,
      terminal: true,
      finish: 'stop',
    })
    expect(run('data: {"promptFeedback":{"blockReason":"SAFETY"}}\n\n').filter.facts).toMatchObject({
      terminal: true,
      finish: 'content_filter',
      error: null,
    })
  })

  it('moves model and stream to the path and leaves every other byte alone', () => {
    const { sent, path, headers } = splice(
      '{ "model":"google/x", "contents":[{"parts":[{"text":"a"}]}],"stream":true, "future":{"b":1,"1":2}, "generationConfig":{"seed":9223372036854775807}}',
      codec({ stream: true }),
    )
    expect(sent).toBe(
      '{ "contents":[{"parts":[{"text":"a"}]}],"future":{"b":1,"1":2}, "generationConfig":{"seed":9223372036854775807}}',
    )
    expect(path).toBe('/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse')
    expect(headers).toEqual(['idempotency-key', 'k'])
  })

  it('foreign secrets of an earlier turn do not reach Google', () => {
    const foreign = wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: 'v' }, 'base64')
    const contents = (count: number) =>
      JSON.stringify({
        contents: Array.from({ length: count }, () => ({
          role: 'model',
          parts: [
            { text: 'hm', thought: true, thoughtSignature: foreign },
            { text: 'a', thoughtSignature: foreign },
            { functionCall: { name: 'f' }, thoughtSignature: foreign },
            { text: 'b', thoughtSignature: 'OWN' },
          ],
        })),
      })
    const clean = {
      role: 'model',
      parts: [
        { text: 'a' },
        { functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' },
        { text: 'b', thoughtSignature: 'OWN' },
      ],
    }
    for (const count of [1, 2, 40]) {
      expect(JSON.parse(splice(contents(count)).sent)).toEqual({ contents: Array.from({ length: count }, () => clean) })
    }
    expect(splice(contents(1), codec({ model: 'gemini-2.5-flash' })).sent).not.toContain('skip_thought')
  })

  it('a list of thoughts on a call does not reach Google, readable or not', () => {
    const list = (version: number) => `thoughts/${version}:[{"text":"hm","signature":"s"}]`
    const carriers = [1, 2].map((version) =>
      wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: list(version) }, 'base64'),
    )
    for (const secret of [...carriers, carriers[0]?.slice(0, -3), 'Z3cxLg==', 'gw1.', 'gw1.x.y.z']) {
      for (const key of ['thoughtSignature', 'thought_signature']) {
        const body = JSON.stringify({
          contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: {} }, [key]: secret }] }],
        })
        expect(splice(body).sent).toBe(body.replace(`${secret}`, 'skip_thought_signature_validator'))
        const beforeThree = splice(body, codec({ model: 'gemini-2.5-flash' })).sent
        expect(JSON.parse(beforeThree)).toEqual({
          contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }],
        })
      }
    }
  })
})

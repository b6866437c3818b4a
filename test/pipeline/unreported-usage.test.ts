// An upstream that reports no usage: its caller gets an estimate or no usage, never zeros.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, reply, type TestGateway } from '../../adapters/testing/index.ts'

const SAID = 'A text of some length, so that its tokens are more than none. '.repeat(3)
const UPSTREAMS = ['chat', 'messages', 'responses', 'generate_content'] as const
type Caller = (typeof UPSTREAMS)[number]

const REQUESTS: Record<Caller, (model: string, stream: boolean) => [path: string, body: object]> = {
  chat: (model, stream) => [
    '/v1/chat/completions',
    { model, stream, ...(stream && { stream_options: { include_usage: true } }), messages: [{ role: 'user', content: 'hi' }] },
  ],
  messages: (model, stream) => ['/v1/messages', { model, stream, max_tokens: 900, messages: [{ role: 'user', content: 'hi' }] }],
  responses: (model, stream) => ['/v1/responses', { model, stream, input: 'hi' }],
  generate_content: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
}

/** Returns the output tokens that a caller reads last; undefined: none. */
function told(caller: Caller, text: string): number | undefined {
  const name = {
    chat: 'completion_tokens',
    messages: 'output_tokens',
    responses: 'output_tokens',
    generate_content: 'candidatesTokenCount',
  }
  const all = [...text.matchAll(new RegExp(`"${name[caller]}":(\\d+)`, 'g'))]
  return all.length === 0 ? undefined : Number(all.at(-1)?.[1])
}

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

describe.each(UPSTREAMS)('a caller of %s', (caller) => {
  const foreign = UPSTREAMS.filter((upstream) => upstream !== caller)
  it.each(
    foreign.flatMap((upstream) => [false, true].map((stream) => [upstream, stream] as const)),
  )('of %s, streaming %s', async (upstream, stream) => {
    t.upstream.script(reply({ text: SAID, usage: null }))
    const [path, body] = REQUESTS[caller](`${upstream}/m`, stream)
    const response = await t.post(path, body)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const omitted = caller === 'generate_content' || (caller === 'chat' && !stream)
    const tokens = told(caller, text)
    if (omitted) expect(tokens).toBeUndefined()
    else expect(tokens).toBeGreaterThan(30)
    if (!omitted && !stream) expect(response.headers.get('x-gateway-warnings')).toContain('estimated_tokens')
    // An explicit zero is a report. A messages stream starts with a count of one.
    t.upstream.script(reply({ text: SAID, usage: { input: 3, output: 0, reasoning: 0, cacheRead: 0 } }))
    const zero = await t.post(...REQUESTS[caller](`${upstream}/m`, stream))
    expect(told(caller, await zero.text())).toBe(upstream === 'messages' && stream ? 1 : 0)
    expect(zero.headers.get('x-gateway-warnings') ?? '').not.toContain('estimated_tokens')
  })
})

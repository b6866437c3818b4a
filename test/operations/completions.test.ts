// POST /v1/completions: at vendors that have it, and over chat for every other upstream.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'
import { broken, frames, text } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

const CHATS = ['messages', 'responses', 'generate_content'] as const

let v: Vendors | null = null
let t: TestGateway | null = null
afterEach(async () => {
  await v?.close()
  await t?.close()
  v = null
  t = null
})

const client = async (gateway: TestGateway) =>
  new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${(await gateway.listen()).port}/v1`, maxRetries: 0 })

async function refused(gateway: TestGateway, body: object) {
  const response = await gateway.post('/v1/completions', body)
  const { error } = (await response.json()) as { error: { param: string; code: string } }
  return { status: response.status, param: error.param }
}

async function streamOf(gateway: TestGateway, body: object): Promise<{ text: string; frames: Record<string, unknown>[] }> {
  const response = await gateway.post('/v1/completions', { ...body, stream: true })
  const whole = await response.text()
  expect(response.headers.get('content-type'), whole).toContain('text/event-stream')
  const data = whole.split('\n\n').flatMap((block) => (block.startsWith('data: {') ? [JSON.parse(block.slice(6))] : []))
  return { text: whole, frames: data }
}

const textOf = (list: Record<string, unknown>[]) =>
  list
    .flatMap((one) => (one.choices ?? []) as { text: string }[])
    .map((choice) => choice.text)
    .join('')

describe('at a vendor that has it', () => {
  it.each([
    ['openai', 'gpt-3.5-turbo-instruct'],
    ['together', 'any/model'],
    ['ollama', 'qwen2.5-coder'],
    ['deepseek', 'deepseek-chat'],
  ])('%s: request and answer pass through', async (provider, model) => {
    v = await vendors([provider])
    const body = { model: `${provider}/${model}`, prompt: 'def f(', suffix: 'return x', max_tokens: 5, custom_member: 1 }
    const response = await v.t.post('/v1/completions', body)
    expect(await response.json()).toMatchObject({ id: 'cmpl-1', choices: [{ text: '…f(return', finish_reason: 'stop' }] })
    expect(v.vendor.requests[0]).toMatchObject({ path: '/v1/completions', json: { ...body, model } })
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome).toMatchObject({ usage: { inputTotal: 7, outputTotal: 3 }, steps: [{ provider }] })
  })

  it('the openai SDK: whole, several prompts, and streamed with usage', async () => {
    v = await vendors(['vllm'])
    const openai = await client(v.t)
    const whole = await openai.completions.create({ model: 'vllm/m', prompt: ['one two', 'three'], n: 2 })
    expect(whole.choices.map((choice) => choice.text)).toEqual(['…two', '…two', '…three', '…three'])
    const stream = await openai.completions.create({
      model: 'vllm/m',
      prompt: 'one two',
      stream: true,
      stream_options: { include_usage: true },
    })
    let out = ''
    let usage: unknown = null
    for await (const part of stream) {
      out += part.choices[0]?.text ?? ''
      usage = part.usage ?? usage
    }
    expect(out).toBe('…two')
    expect(usage).toMatchObject({ total_tokens: 10 })
  })

  it('a stream is billed by the vendor’s usage, which the caller gets only when asked for', async () => {
    v = await vendors(['vllm'])
    const { text: sent, frames: list } = await streamOf(v.t, { model: 'vllm/m', prompt: 'a b' })
    expect(textOf(list)).toBe('…b')
    expect(sent).not.toContain('usage')
    expect(sent).toContain('data: [DONE]')
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 7, outputTotal: 3, estimated: false })
  })

  it('a stream that is cut ends with an error event and is billed for what arrived', async () => {
    const first = `data: ${JSON.stringify({ choices: [{ text: 'half of it', index: 0 }] })}\n\n`
    v = await vendors(['vllm'], { upstream: [frames([first])] })
    const { frames: list } = await streamOf(v.t, { model: 'vllm/m', prompt: 'a b' })
    expect(list.at(-1)).toMatchObject({ error: { type: expect.any(String) } })
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome).toMatchObject({ status: 502, usage: { outputTotal: 3, estimated: true } })
  })

  it.each([
    'suffix',
    'echo',
  ])('a `%s` that the vendor refuses is not left out: the answer would be another one', async (param) => {
    v = await vendors(['vllm'], { upstream: [{ kind: 'fail', status: 400, message: `Unsupported parameter: ${param}`, param }] })
    const response = await v.t.post('/v1/completions', { model: 'vllm/m', prompt: 'a', suffix: 'b', echo: true })
    expect(response.status).toBe(400)
    expect(v.vendor.requests).toHaveLength(1)
  })

  it('token arrays and echo pass', async () => {
    v = await vendors(['vllm'])
    await v.t.post('/v1/completions', { model: 'vllm/m', prompt: [1, 2, 3], echo: true, logprobs: 2, best_of: 3 })
    expect(v.vendor.requests[0]?.json).toMatchObject({ prompt: [1, 2, 3], echo: true, logprobs: 2, best_of: 3 })
  })

  it.each([false, true])('Mistral fills gaps at its own path (stream: %s)', async (stream) => {
    v = await vendors(['mistral'])
    const body = { model: 'mistral/codestral-latest', prompt: 'def f(', suffix: 'return x', max_tokens: 9 }
    if (stream) expect(textOf((await streamOf(v.t, body)).frames)).toBe('…f(return')
    else
      expect(await (await v.t.post('/v1/completions', body)).json()).toMatchObject({
        object: 'text_completion',
        choices: [{ text: '…f(return' }],
      })
    expect(v.vendor.requests[0]).toMatchObject({
      path: '/v1/fim/completions',
      json: { model: 'codestral-latest', prompt: 'def f(', suffix: 'return x', max_tokens: 9 },
    })
  })

  it('an upstream of one’s own without the route is asked over chat', async () => {
    t = await createTestGateway({
      upstream: [
        {
          kind: 'choose',
          choose: ({ path }) => (path === '/v1/completions' ? { kind: 'raw', status: 404, body: '{}' } : text('by chat')),
        },
      ],
    })
    const response = await t.post('/v1/completions', { model: 'chat/m', prompt: 'a' })
    expect(await response.json()).toMatchObject({ choices: [{ text: 'by chat' }] })
    expect(t.upstream.requests.map(({ path }) => path)).toEqual(['/v1/completions', '/v1/chat/completions'])
  })
})

describe.each(CHATS)('over a %s upstream', (target) => {
  it('whole, echoed, and for several prompts', async () => {
    t = await createTestGateway({ upstream: [text('forty-two')] })
    const openai = await client(t)
    const answer = await openai.completions.create({
      model: `${target}/m`,
      prompt: ['a', 'b'],
      echo: true,
      max_tokens: 20,
      stop: 'x',
    })
    expect(answer).toMatchObject({ object: 'text_completion', model: `${target}/m`, id: expect.stringMatching(/^cmpl-/) })
    expect(answer.choices.map((choice) => [choice.index, choice.text, choice.finish_reason])).toEqual([
      [0, 'aforty-two', 'stop'],
      [1, 'bforty-two', 'stop'],
    ])
    await t.untilSettled(1)
    expect(t.settled).toHaveLength(1)
    expect(t.settled[0]?.outcome.steps).toHaveLength(2)
    expect(answer.usage?.total_tokens).toBe(t.settled[0]?.outcome.usage.total)
  })

  it('streamed', async () => {
    t = await createTestGateway({ upstream: [text('forty-two')] })
    const openai = await client(t)
    const stream = await openai.completions.create({
      model: `${target}/m`,
      prompt: 'a',
      stream: true,
      stream_options: { include_usage: true },
    })
    let out = ''
    let finish: string | null = null
    let total = 0
    for await (const { choices, usage } of stream) {
      out += choices[0]?.text ?? ''
      finish = choices[0]?.finish_reason ?? finish
      total = usage?.total_tokens ?? total
    }
    expect([out, finish]).toEqual(['forty-two', 'stop'])
    await t.untilSettled(1)
    expect(t.settled[0]?.outcome.usage.total).toBe(total)
  })

  it.each([
    [{ prompt: 'a', suffix: 'b' }, 'suffix'],
    [{ prompt: [1, 2] }, 'prompt'],
    [{ prompt: [[1], [2]] }, 'prompt'],
    [{ prompt: Array.from({ length: 21 }, () => 'a') }, 'prompt'],
  ])('refuses %j, and sends nothing', async (body, param) => {
    t = await createTestGateway()
    expect(await refused(t, { model: `${target}/m`, ...body })).toEqual({ status: 400, param })
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('a broken stream ends with an error event, and is settled once', async () => {
    t = await createTestGateway({ upstream: [broken({ text: 'half of it' }, 5)] })
    const { frames: list } = await streamOf(t, { model: `${target}/m`, prompt: 'a' })
    expect(list.at(-1)).toMatchObject({ error: { type: expect.any(String) } })
    await t.untilSettled(1)
    expect(t.settled.map(({ outcome }) => outcome.status)).toEqual([502])
  })

  it('a caller who leaves ends the upstream’s call', async () => {
    t = await createTestGateway({ upstream: [{ ...text('one two three four'), everyMs: 50 }] })
    const { port } = await t.listen()
    const leave = new AbortController()
    const body = JSON.stringify({ model: `${target}/m`, prompt: 'a', stream: true })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
      method: 'POST',
      headers,
      body,
      signal: leave.signal,
    })
    await (response.body as ReadableStream<Uint8Array>).getReader().read()
    leave.abort()
    await t.untilSettled(1)
    expect(t.settled).toHaveLength(1)
    expect([200, 499]).toContain(t.settled[0]?.outcome.status)
  })
})

describe('guardrails', () => {
  const settings = {
    'guardrails.enabled': true,
    'guardrails.keywords.mode': 'redact',
    'guardrails.keywords.deny': ['heron', 'egret'],
  }
  const answer = async (gateway: TestGateway, body: object): Promise<string> => {
    if ('stream' in body && body.stream === true) return textOf((await streamOf(gateway, body)).frames)
    const response = await gateway.post('/v1/completions', body)
    const json = (await response.json()) as { choices: { text: string }[] }
    return json.choices.map((choice) => choice.text).join('')
  }

  it.each([false, true])('read the prompt and the text of a vendor (stream: %s)', async (stream) => {
    const choices = [{ index: 0, text: 'An egret flies.', finish_reason: 'stop' }]
    v = await vendors(['vllm'], {
      config: { settings } as never,
      upstream: [{ kind: 'raw', status: 200, body: JSON.stringify({ choices }) }],
    })
    expect(await answer(v.t, { model: 'vllm/m', prompt: 'A heron', stream })).toMatch(/^An \S+ flies\.$/)
    expect(v.vendor.requests[0]?.text).not.toContain('heron')
  })

  it.each([false, true])('read the prompt and the text of a chat model (stream: %s)', async (stream) => {
    v = await vendors(['vllm', 'anthropic'], { config: { settings } as never, upstream: [text('An egret flies.')] })
    const got = await answer(v.t, { model: 'anthropic/claude-sonnet-4-5', prompt: 'A heron', stream })
    expect(got).toMatch(/^An \S+ flies\.$/)
    expect(got).not.toContain('egret')
    expect(v.vendor.requests[0]?.text).not.toContain('heron')
  })
})

it.each([
  [{ prompt: 'a' }, 'model'],
  [{ model: 'vllm/m', prompt: [] }, 'prompt'],
  [{ model: 'vllm/m', prompt: ['a', 1] }, 'prompt'],
  [{ model: 'vllm/m', prompt: {} }, 'prompt'],
  [{ model: 'vllm/m', prompt: 'a', n: 0 }, 'n'],
  [{ model: 'vllm/m', prompt: 'a', max_tokens: 1.5 }, 'max_tokens'],
  [{ model: 'vllm/m', prompt: 'a', stop: 1 }, 'stop'],
  [{ model: 'vllm/m', prompt: 'a', stream: 'yes' }, 'stream'],
])('refuses %j, naming `%s`', async (body, param) => {
  v = await vendors(['vllm'])
  expect(await refused(v.t, body)).toEqual({ status: 400, param })
  expect(v.vendor.requests).toHaveLength(0)
})

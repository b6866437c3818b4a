import { afterEach, describe, expect, it } from 'vitest'
import {
  createTestGateway,
  fail,
  frames,
  raw,
  reply,
  type TestGateway,
  type TestGatewayOptions,
} from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { preset } from '../../plugins/preset.ts'
import { ask } from '../adapters/node/support.ts'
import { answerOf, DIALECTS, saidBy } from '../support/dialects.ts'

const LISTED = 'chat/DeepSeek-R1-0528'
const UNLISTED = 'chat/gpt-4.1-mini'
const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function gateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const t = await createTestGateway(options)
  open.push(t)
  return t
}

async function asked(t: TestGateway, dialect: Dialect, model: string, stream: boolean): Promise<string> {
  const { path, body } = ask(dialect, model, { stream })
  const response = await t.post(path, body)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

/** What the caller reads when the upstream says `content`, streamed in pieces of `chunk`. */
async function said(t: TestGateway, dialect: Dialect, content: string, stream: boolean, { model = LISTED, chunk = 3 } = {}) {
  t.upstream.script(reply({ text: content, chunk }))
  return saidBy(answerOf(dialect, await asked(t, dialect, model, stream), stream))
}

const chunk = (delta: object, finish: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index, delta, finish_reason: finish }] })}\n\n`
const streamOf = (...pieces: string[]) =>
  frames([...pieces.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'])

describe('think tags of a listed model', () => {
  const CASES: Record<string, { content: string; thought: string; text: string }> = {
    'a thought, then the answer': {
      content: '<think>\nLet me see.\n</think>\n\nThe answer.',
      thought: 'Let me see.\n',
      text: 'The answer.',
    },
    'the longer tag': { content: '<thinking>hm</thinking> Yes.', thought: 'hm', text: 'Yes.' },
    'a thought in the middle': { content: 'First. <think>hm</think>Second.', thought: 'hm', text: 'First. Second.' },
    'an empty thought': { content: '<think>\n\n</think>\n\nHello', thought: '', text: 'Hello' },
    'nested tags': { content: '<think>a<think>b</think>c</think>d', thought: 'ab', text: 'cd' },
    'a thought without an end': { content: 'So: <think>and on and on', thought: 'and on and on', text: 'So: ' },
    'an end that looks like the start of a tag': { content: 'a < b <thi', thought: '', text: 'a < b <thi' },
    'a tag in fenced code': {
      content: 'Use\n```\n<think>x</think>\n```\nand <think>y</think> done',
      thought: 'y',
      text: 'Use\n```\n<think>x</think>\n```\nand done',
    },
    'a fence inside a thought': { content: '<think>```js</think>ok', thought: '```js', text: 'ok' },
  }

  for (const dialect of DIALECTS) {
    it(`reaches ${dialect} callers as reasoning, streamed as whole`, async () => {
      const t = await gateway()
      for (const [name, { content, thought, text }] of Object.entries(CASES)) {
        expect(await said(t, dialect, content, true), `${name}, streamed`).toEqual({ thought, text })
        expect(await said(t, dialect, content, false), `${name}, whole`).toEqual({ thought, text })
      }
    })

    it(`may be split at every offset on the way to ${dialect} callers`, async () => {
      const t = await gateway()
      const content = 'Hi <think>one 👋</think>\n two'
      for (let at = 0; at <= content.length; at++) {
        // A JSON string cannot carry half a surrogate pair apart from the other half.
        if (/[\ud800-\udbff]$/.test(content.slice(0, at))) continue
        t.upstream.script(streamOf(...[content.slice(0, at), content.slice(at)].filter((piece) => piece !== '')))
        const answer = answerOf(dialect, await asked(t, dialect, LISTED, true), true)
        expect(saidBy(answer), `split at ${at}`).toEqual({ thought: 'one 👋', text: 'Hi two' })
      }
    })
  }

  it('comes in the field each dialect has for it', async () => {
    const t = await gateway()
    t.upstream.script(reply({ text: '<think>hm</think>Yes' }))
    const whole = async (dialect: Dialect) => JSON.parse(await asked(t, dialect, LISTED, false))
    expect((await whole('chat')).choices[0].message).toMatchObject({ reasoning_content: 'hm', content: 'Yes' })
    expect((await whole('messages')).content).toMatchObject([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Yes' },
    ])
    expect((await whole('responses')).output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'hm' }] },
      { type: 'message', content: [{ text: 'Yes' }] },
    ])
    expect((await whole('generate_content')).candidates[0].content.parts).toMatchObject([
      { text: 'hm', thought: true },
      { text: 'Yes' },
    ])
  })

  it('a whole answer that begins inside the thought: everything before the end tag is reasoning', async () => {
    const t = await gateway()
    const content = 'First I look.\n```\nx <think>\n```\n</think>\n\nDone.'
    for (const dialect of DIALECTS)
      expect(await said(t, dialect, content, false)).toEqual({ thought: 'First I look.\n```\nx \n```\n', text: 'Done.' })
    expect(await said(t, 'chat', 'Too late </think>to move', true)).toEqual({ thought: '', text: 'Too late to move' })
  })

  it('tool calls, other choices and native reasoning keep their place', async () => {
    const t = await gateway()
    const call = (args: string, more = {}) => ({ tool_calls: [{ index: 0, function: { arguments: args }, ...more }] })
    t.upstream.script(
      frames([
        chunk({ reasoning_content: 'native. ' }),
        chunk({ content: '<think>a' }),
        chunk({ content: 'Second ' }, null, 1),
        chunk({ content: 'choice' }, 'stop', 1),
        chunk({ content: '</think>Look: ' }),
        chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"x":' } }] }),
        chunk(call('"<think>"}')),
        chunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]),
    )
    const { choices } = answerOf('chat', await asked(t, 'chat', LISTED, true), true)
    expect(choices.map(({ finish }) => finish)).toEqual(['tool_calls', 'stop'])
    expect(choices[1]?.parts).toMatchObject([{ t: 'text', text: 'Second choice' }])
    expect(choices[0]?.parts.map((part) => part.t)).toEqual(['reasoning', 'text', 'tool_call'])
    expect(choices[0]?.parts[1]).toMatchObject({ text: 'Look: ' })
    expect(choices[0]?.parts[2]).toMatchObject({ id: 'call_1', name: 'f', args: '{"x":"<think>"}' })
    const messages = await asked(t, 'messages', LISTED, true)
    const indexes = [...messages.matchAll(/"content_block_start","index":(\d+)/g)].map(([, index]) => Number(index))
    expect(indexes).toEqual(indexes.map((_, at) => at))
  })

  it('an upstream that answers JSON where a stream was asked is taken apart too', async () => {
    const t = await gateway()
    for (const dialect of DIALECTS) {
      t.upstream.script(reply({ text: '<think>hm</think>Yes' }, { as: 'json' }))
      const answer = answerOf(dialect, await asked(t, dialect, LISTED, true), true)
      expect(saidBy(answer), dialect).toEqual({ thought: 'hm', text: 'Yes' })
    }
  })
})

describe('what is left alone', () => {
  it('an answer without tags keeps its bytes, whole', async () => {
    const t = await gateway()
    const body =
      '{ "id":"c","object":"chat.completion","created":1,"model":"m", "choices":[{"index":0,"message":{"role":"assistant","content":" a <b> c","refusal":null},"logprobs":null, "finish_reason":"stop"}],"odd":1}'
    t.upstream.script(raw(200, body))
    expect(await asked(t, 'chat', LISTED, false)).toBe(body)
  })

  it('a model that is not listed keeps the byte lane', async () => {
    const t = await gateway()
    const sent = [
      chunk({ role: 'assistant', content: '<thi', odd: 1 }),
      chunk({ content: 'nk>x</think>y' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]
    t.upstream.script(frames(sent))
    expect(await asked(t, 'chat', UNLISTED, true)).toBe(sent.join(''))
    for (const dialect of DIALECTS) {
      const content = '<think>x</think>y'
      for (const stream of [true, false])
        expect(await said(t, dialect, content, stream, { model: UNLISTED })).toEqual({ thought: '', text: content })
    }
  })

  it('lists come from the settings, the environment replaces them, and nothing disables', async () => {
    const tagged = '<think>x</think>y'
    const apart = { thought: 'x', text: 'y' }
    const own = await gateway({ config: { settings: { 'think_tags.models': ['GPT-?.1-mini'] } } })
    expect(await said(own, 'chat', tagged, true, { model: UNLISTED })).toEqual(apart)
    expect(await said(own, 'chat', tagged, false)).toEqual({ thought: '', text: tagged })
    const replaced = await gateway({ env: { THINK_TAG_MODELS: 'gpt-*, other' } })
    expect(await said(replaced, 'chat', tagged, true, { model: UNLISTED })).toEqual(apart)
    expect(await said(replaced, 'chat', tagged, false)).toEqual({ thought: '', text: tagged })
    const off = await gateway({ env: { THINK_TAG_MODELS: '' } })
    expect(await said(off, 'chat', tagged, true)).toEqual({ thought: '', text: tagged })
    const without = await gateway({ config: { plugins: preset({ thinkTags: false }) } })
    expect(await said(without, 'chat', tagged, true)).toEqual({ thought: '', text: tagged })
  })

  it('asks for the model that answers, not for the one that was tried first', async () => {
    const targets = (...models: string[]) =>
      definePlugin({
        name: 'two-targets',
        setup(scope) {
          scope.hook('resolve', () => ({
            targets: models.map((model) => ({ provider: 'chat', model, connectionId: null, weight: 1 })),
            strategy: 'failover',
            virtualModel: null,
          }))
        },
      })()
    const tagged = '<think>x</think>y'
    const answers = reply({ text: tagged })
    const later = await gateway({ plugins: [targets('gpt-4.1-mini', 'qwen3-8b')] })
    const sooner = await gateway({ plugins: [targets('qwen3-8b', 'gpt-4.1-mini')] })
    for (const dialect of DIALECTS) {
      for (const stream of [true, false]) {
        later.upstream.script(fail(503), answers)
        expect(saidBy(answerOf(dialect, await asked(later, dialect, 'x', stream), stream))).toEqual({ thought: 'x', text: 'y' })
        sooner.upstream.script(fail(503), answers)
        expect(saidBy(answerOf(dialect, await asked(sooner, dialect, 'x', stream), stream))).toEqual({
          thought: '',
          text: tagged,
        })
      }
    }
  })
})

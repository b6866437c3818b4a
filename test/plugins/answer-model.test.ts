// `answer_model`: for callers of messages `model` in answers is the requested name; for others it is the model that served.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, RENDERERS, type TestGateway } from '../../adapters/testing/index.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from '../pipeline/support/accounts.ts'
import { memoryTransport } from '../pipeline/support/memory-transport.ts'
import { pathAndBody } from '../pipeline/support/wire.ts'

const SERVED = 'served-2026-11-01'
const REPLY = { text: 'The "model": "m" is fine 🦊', model: SERVED }
type Answer = { status: number; text: string; headers: Headers }
let t: TestGateway
afterEach(() => t.close())

/** Returns numbers in [0, 1) that the seed reproduces. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Splits each stream at bytes that the draws select; default: one read for each frame. */
async function start(upstream: Dialect, options: { mode?: string; draw?: () => number; env?: object; frames?: string[] } = {}) {
  const transport = memoryTransport(async (call) => {
    const body = Buffer.concat((call.request.body ?? []) as Uint8Array[]).toString()
    if (!call.request.stream) {
      call.head(200, ['content-type', 'application/json'])
      // White space and digits that must not change.
      const whole = JSON.stringify(RENDERERS[upstream].json(REPLY)).replace('{', '{ "exact": 12345678901234567890,')
      call.push(body === '' ? '' : whole)
      return call.end()
    }
    call.head()
    const bytes = Buffer.from((options.frames ?? RENDERERS[upstream].frames(REPLY)).join(''))
    for (let at = 0; at < bytes.length; ) {
      const size = options.draw === undefined ? bytes.length : 1 + Math.floor(options.draw() * 40)
      await call.push(bytes.subarray(at, at + size))
      at += size
    }
    call.end()
  })
  t = await createTestGateway({
    ports: { transport },
    config: { virtualModels: { house: { strategy: 'failover', targets: [`${upstream}/m`] } } },
    env: { ...(options.mode === undefined ? {} : { ANSWER_MODEL: options.mode }), ...options.env },
  })
}

async function ask(caller: Dialect, model: string, stream: boolean): Promise<Answer> {
  const { path, body } = pathAndBody(caller, model, stream)
  const response = await t.post(path, body)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Returns every model name in the answer. */
function namesIn(caller: Dialect, { text }: Answer): string[] {
  const objects = text.startsWith('{')
    ? [JSON.parse(text)]
    : text.split(/\n\n/).flatMap((frame) => {
        const data = /^data: ?(\{.*)$/m.exec(frame)?.[1]
        return data === undefined ? [] : [JSON.parse(data)]
      })
  const read = (one: Partial<Record<string, string> & Record<'message' | 'response', { model?: string }>>): unknown => {
    if (caller === 'generate_content') return one.modelVersion
    if (caller === 'messages') return one.message?.model ?? one.model
    return caller === 'responses' ? (one.response?.model ?? one.model) : one.model
  }
  return [...new Set(objects.map(read).filter((name) => name !== undefined))] as string[]
}

const pairs = DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream })))

describe.each(pairs)('$caller → $upstream', ({ caller, upstream }) => {
  it.each([
    ['auto', caller === 'messages'],
    ['requested', true],
    ['served', false],
  ] as const)('%s', async (mode, requested) => {
    await start(upstream, { mode })
    for (const stream of [false, true]) {
      const model = `${upstream}/m`
      const answer = await ask(caller, model, stream)
      expect([answer.status, namesIn(caller, answer)]).toEqual([200, [requested ? model : SERVED]])
      expect(answer.headers.get('x-gateway-model')).toBe('m')
      expect(answer.text).toContain('fine')
    }
  })
})

describe('a messages stream that stays bytes', () => {
  it('has one splice, wherever the reads are cut', async () => {
    const draw = seeded(7)
    await start('messages', { draw })
    const frames = RENDERERS.messages.frames(REPLY).join('')
    for (let round = 0; round < 25; round++) {
      const { text } = await ask('messages', 'messages/m', true)
      expect(text).toBe(frames.replace(`"${SERVED}"`, '"messages/m"'))
    }
  })

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['data over two lines', (text: string) => text.replace('"message":', '\ndata: "message":')],
    ['an escaped key before it', (text: string) => text.replace('"message":{', '"message":{"x":{"model":"no"},"m\\u006fre":1,')],
    ['white space', (text: string) => text.replace(`"model":"${SERVED}"`, `"model" :  "${SERVED}"`)],
  ])('%s', async (_name, spell) => {
    const frames = RENDERERS.messages.frames(REPLY)
    await start('messages', { frames: [spell(frames[0] as string), ...frames.slice(1)] })
    const { text } = await ask('messages', 'house', true)
    const data = text.slice(text.indexOf('data:') + 5, text.search(/\r?\n\r?\n/))
    expect(JSON.parse(data).message.model).toBe('house')
    expect(text).not.toContain(SERVED)
    expect(text).toContain('message_stop')
  })

  it('gives a whole answer back byte by byte but for the name', async () => {
    await start('messages')
    const { text } = await ask('messages', 'messages/m', false)
    expect(text).toBe(
      JSON.stringify(RENDERERS.messages.json(REPLY))
        .replace('{', '{ "exact": 12345678901234567890,')
        .replace(`"${SERVED}"`, '"messages/m"'),
    )
  })
})

describe('the string that was asked', () => {
  it('is a virtual model, or a model with its provider, also where the exact cache answers', async () => {
    await start('messages', { env: { DEDUP_TTL_MS: '60000' } })
    for (const model of ['house', 'messages/m', 'house', 'messages/m']) {
      const answer = await ask('messages', model, false)
      expect(namesIn('messages', answer)).toEqual([model])
      await t.untilSettled(t.settled.length)
    }
    expect((await ask('messages', 'house', false)).headers.get('x-gateway-cache-type')).toBe('exact')
  })

  it('follows the setting, and a kept answer of before is not given', async () => {
    await start('chat', { env: { DEDUP_TTL_MS: '60000' } })
    const put = (answer_model: string) =>
      t.fetch('/api/settings', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answer_model }),
      })
    expect(namesIn('chat', await ask('chat', 'house', false))).toEqual([SERVED])
    expect((await put('requested')).status).toBe(200)
    expect(namesIn('chat', await ask('chat', 'house', false))).toEqual(['house'])
    await put('served')
    expect(namesIn('messages', await ask('messages', 'house', false))).toEqual([SERVED])
    expect((await put('both')).status).toBe(400)
  })
})

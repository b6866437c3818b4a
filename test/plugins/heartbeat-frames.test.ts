// `heartbeat.generate_content`: the stream parsers of Google's own clients fail at an SSE comment. Those clients get an empty
// candidate frame, every other caller gets `: ping`.
import { GoogleGenAI } from '@google/genai'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, type TestGateway } from '../../adapters/testing/index.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from '../pipeline/support/accounts.ts'
import { framesOf } from '../pipeline/support/faults.ts'
import { memoryTransport, type Sent } from '../pipeline/support/memory-transport.ts'
import { pathAndBody } from '../pipeline/support/wire.ts'

const FRAME = 'data: {"candidates":[{"content":{"parts":[],"role":"model"},"index":0}]}\n\n'
/** `chats` of @google/genai drop a turn that had a chunk without parts. */
const GENAI_FRAME = FRAME.replace('[]', '[{"text":""}]')
const PING = ': ping\n\n'
const GENAI = { 'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-node/v22.0.0' }
const SDK = { 'x-goog-api-client': 'genai-js/0.24.1' }
const CLI = { 'user-agent': 'GeminiCLI/0.21.0/gemini-3-pro (linux; x64)' }

let t: TestGateway
let clock: FakeClock
let transport: ReturnType<typeof memoryTransport>
/** The latest stream, and the text that its client has read. */
let current: { text: string }
afterEach(() => t.close())

async function start(env: Record<string, string> = {}): Promise<void> {
  clock = fakeClock()
  transport = memoryTransport(() => {})
  t = await createTestGateway({ ports: { clock, transport }, env })
}

async function open(
  headers: Record<string, string>,
  upstream = 'chat',
  caller: Dialect = 'generate_content',
  array = false,
): Promise<Sent> {
  const stream = { text: '' }
  current = stream
  const before = transport.sent.length
  const { path, body } = pathAndBody(caller, `${upstream}/m`, true, array)
  void t.post(path, body, headers).then(async (response) => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) stream.text += Buffer.from(chunk).toString()
  })
  await expect.poll(() => transport.sent.length, { interval: 1 }).toBe(before + 1)
  await turns()
  return transport.sent.at(-1) as Sent
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function quiet(): Promise<string> {
  const from = current.text.length
  await clock.advance('16s')
  await turns()
  return current.text.slice(from)
}

/** Reads like @google/generative-ai: each event must be one `data:` line; any other line is an error. */
function strictEvents(stream: string): { candidates?: { content?: { parts: { text?: string }[] }; finishReason?: string }[] }[] {
  const out = []
  let rest = stream
  while (rest !== '') {
    const match = /^data: (.*)(?:\n\n|\r\r|\r\n\r\n)/.exec(rest)
    if (match === null) throw new Error('Failed to parse stream')
    out.push(JSON.parse(match[1] as string))
    rest = rest.slice(match[0].length)
  }
  return out
}

describe('auto', () => {
  it('is the frame for clients that name themselves so, and a comment for all others', async () => {
    await start()
    const callers = [
      [SDK, FRAME],
      [CLI, FRAME],
      [GENAI, GENAI_FRAME],
      [{ ...CLI, ...GENAI }, GENAI_FRAME],
      [{ 'user-agent': 'node' }, PING],
    ] as const
    for (const [headers, sign] of callers) {
      await open(headers)
      expect([await quiet(), await quiet()]).toEqual([sign, sign])
    }
    for (const caller of ['chat', 'messages', 'responses'] as const) {
      await open(SDK, 'chat', caller)
      expect(await quiet()).toBe(PING)
    }
    await open(SDK, 'chat', 'generate_content', true)
    expect(await quiet()).toBe('')
  })

  it.each(
    DIALECTS,
  )('%s upstream: a strict parser reads the answer around quiet gaps, and nothing follows the last frame', async (upstream) => {
    await start()
    const call = await open(SDK, upstream)
    const { all } = framesOf(upstream)
    call.head()
    await quiet()
    for (const frame of all) {
      call.push(frame)
      await quiet()
    }
    const said = current.text.length
    expect(await quiet()).toBe('')
    call.end()
    await turns()
    const events = strictEvents(current.text)
    expect(
      events
        .flatMap((event) => event.candidates?.[0]?.content?.parts ?? [])
        .map((part) => part.text ?? '')
        .join(''),
    ).toContain('fine')
    expect(events.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
    expect(events.filter((event) => event.candidates?.[0]?.content?.parts.length === 0).length).toBeGreaterThan(1)
    expect(current.text.slice(said)).not.toContain('"parts":[]')
  })

  it('@google/genai asks for the frame and keeps its chat history valid', async () => {
    await start()
    const seen: string[] = []
    const fetch = (input: string | URL | Request, init?: RequestInit) => {
      const url = new URL(String(input instanceof Request ? input.url : input))
      return t.fetch(`${url.pathname}${url.search}`, init)
    }
    const options = { apiKey: 'x', httpOptions: { baseUrl: 'http://127.0.0.1:1', fetch } }
    const real = globalThis.fetch
    globalThis.fetch = fetch as typeof globalThis.fetch
    try {
      const chat = new GoogleGenAI(options as ConstructorParameters<typeof GoogleGenAI>[0]).chats.create({
        model: 'generate_content/m',
      })
      const asking = chat.sendMessageStream({ message: 'hi' })
      await expect.poll(() => transport.sent.length, { interval: 1 }).toBe(1)
      const call = transport.sent[0] as Sent
      const { all } = framesOf('generate_content')
      call.head()
      await clock.advance('16s')
      const reading = (async () => {
        for await (const chunk of await asking) seen.push(chunk.text ?? '')
      })()
      for (const frame of all) {
        call.push(frame)
        await clock.advance('16s')
        await turns()
      }
      call.end()
      await reading
      expect(seen.join('')).toContain('fine')
      expect(seen.filter((one) => one === '').length).toBeGreaterThan(0)
      expect(JSON.stringify(chat.getHistory(true))).toContain('fine')
    } finally {
      globalThis.fetch = real
    }
  })
})

describe('the setting', () => {
  const put = (value: unknown) =>
    t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ heartbeat: { generate_content: value } }),
    })

  it('holds for open streams: frame and comment for every caller, off for none', async () => {
    await start({ HEARTBEAT_GENERATE_CONTENT: 'comment' })
    await open(SDK)
    expect(await quiet()).toBe(PING)
    expect((await put('off')).status).toBe(200)
    expect(await quiet()).toBe('')
    await put('frame')
    // The first one is overdue.
    expect(await quiet()).toBe(FRAME + FRAME)
    await open({}, 'messages')
    expect(await quiet()).toBe(FRAME)
    await open({}, 'messages', 'messages')
    expect(await quiet()).toBe(PING)
    expect((await put('sometimes')).status).toBe(400)
  })

  it('off commits no status', async () => {
    await start({ HEARTBEAT_GENERATE_CONTENT: 'off' })
    const call = await open(SDK, 'chat')
    await quiet()
    call.head(400, ['content-type', 'application/json'])
    call.push('{"error":{"message":"no"}}')
    call.end()
    await turns()
    expect(current.text).toContain('INVALID_ARGUMENT')
  })
})

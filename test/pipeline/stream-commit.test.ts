// The commit point and the heartbeat: before the first content only `: ping` is sent, after it only the dialect's own frames, and an
// error ends the stream in the dialect's form.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, RENDERERS, type TestGateway } from '../../adapters/testing/index.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from './support/accounts.ts'
import { cells } from './support/cells.ts'
import { framesOf } from './support/faults.ts'
import { memoryTransport, type Sent } from './support/memory-transport.ts'
import { pathAndBody } from './support/wire.ts'

const count = cells('stream commit')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

interface Scene {
  t: TestGateway
  clock: FakeClock
  /** Returns the open upstream call. */
  call(): Promise<Sent>
  /** Returns the text that the client has read so far. */
  read(): Promise<string>
  status(): number | null
  ended(): boolean
}

async function scene(
  caller: Dialect,
  upstream: Dialect,
  options: { array?: boolean; env?: Record<string, string> } = {},
): Promise<Scene> {
  const clock = fakeClock()
  const transport = memoryTransport(() => {})
  const t = await createTestGateway({ ports: { clock, transport }, env: options.env ?? {} })
  closing.push(t)
  const { path, body } = pathAndBody(caller, `${upstream}/m`, true, options.array)
  let text = ''
  let status: number | null = null
  let ended = false
  const asking = t.post(path, body).then(async (response) => {
    status = response.status
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString()
    ended = true
  })
  void asking
  await expect.poll(() => transport.sent.length, { interval: 1 }).toBe(1)
  const turn = async () => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    t,
    clock,
    call: async () => {
      await turn()
      return transport.sent.at(-1) as Sent
    },
    read: async () => {
      await turn()
      return text
    },
    status: () => status,
    ended: () => ended,
  }
}

const pairs = DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream })))

describe('before the first content', () => {
  it.each(pairs)('$caller → $upstream: lifecycle frames are held back, only `: ping` goes out', async ({ caller, upstream }) => {
    await count.run('held', `${caller} → ${upstream}`, async () => {
      const at = await scene(caller, upstream)
      const call = await at.call()
      const { head, content } = framesOf(upstream)
      call.head()
      call.push(head.join(''))
      expect([await at.read(), at.status()]).toEqual(['', null])
      await at.clock.advance('16s')
      expect([await at.read(), at.status()]).toEqual([': ping\n\n', 200])
      await at.clock.advance('15s')
      expect(await at.read()).toBe(': ping\n\n: ping\n\n')
      call.push(content[0] as string)
      const first = await at.read()
      expect(first.startsWith(': ping\n\n: ping\n\n')).toBe(true)
      expect(first).toContain('fine')
      expect(first).not.toContain(': ping\n\n: ping\n\n: ping')
      call.push(
        framesOf(upstream)
          .all.slice(head.length + 1)
          .join(''),
      )
      call.end()
      await at.read()
      expect(at.ended()).toBe(true)
      await at.t.untilSettled()
      expect(at.t.settled[0]?.outcome).toMatchObject({ status: 200, firstByteMs: 31_000 })
    })
  })

  it('an error before the content becomes a status, not a 200 with an error frame', async () => {
    for (const { caller, upstream } of pairs) {
      await count.run('status', `${caller} → ${upstream}`, async () => {
        const at = await scene(caller, upstream)
        const call = await at.call()
        call.head()
        call.push(framesOf(upstream).head.join(''))
        call.push(RENDERERS[upstream].errorFrames('it broke', 503).join(''))
        await at.read()
        expect(at.status()).toBeGreaterThanOrEqual(500)
        await at.t.untilSettled()
      })
    }
  })
})

describe('heartbeat', () => {
  it.each(pairs)('$caller → $upstream: is never sent inside a frame that arrives in two reads', async ({ caller, upstream }) => {
    await count.run('between', `${caller} → ${upstream}`, async () => {
      const at = await scene(caller, upstream)
      const call = await at.call()
      const { head, content, all } = framesOf(upstream)
      const [first, ...rest] = [content[0] as string, ...all.slice(head.length + 1)]
      call.head()
      call.push(head.join('') + first)
      const before = await at.read()
      const next = rest[0] as string
      call.push(next.slice(0, 20))
      await at.clock.advance('16s')
      expect(await at.read()).toBe(`${before}: ping\n\n`)
      expect(before.endsWith('\n\n') || before.endsWith('\r\n\r\n')).toBe(true)
      call.push(next.slice(20) + rest.slice(1).join(''))
      call.end()
      const answer = await at.read()
      expect(answer.split(': ping\n\n')).toHaveLength(2)
      expect(at.ended()).toBe(true)
    })
  })

  it('counts from the last write, and 0 disables it', async () => {
    const at = await scene('chat', 'chat')
    const call = await at.call()
    const { head, content } = framesOf('chat')
    call.head()
    call.push(head.join('') + content[0])
    await at.clock.advance('10s')
    call.push(content[1] as string)
    await at.clock.advance('10s')
    expect(await at.read()).not.toContain('ping')
    await at.clock.advance('6s')
    expect(await at.read()).toMatch(/\n\n: ping\n\n$/)
    const quiet = await scene('chat', 'chat', { env: { STREAM_HEARTBEAT_MS: '0' } })
    const silent = await quiet.call()
    silent.head()
    await quiet.clock.advance('100s')
    expect([await quiet.read(), quiet.status()]).toEqual(['', null])
    silent.end()
  })

  it('is never sent in a JSON array, which fails with a status before the content and stays valid after it', async () => {
    for (const upstream of DIALECTS) {
      await count.run('array', upstream, async () => {
        const at = await scene('generate_content', upstream, { array: true, env: { UPSTREAM_IDLE_TIMEOUT_MS: '60000' } })
        const call = await at.call()
        call.head()
        await at.clock.advance('59s')
        expect([await at.read(), at.status()]).toEqual(['', null])
        await at.clock.advance('2s')
        await at.read()
        expect(at.status()).toBe(504)

        const other = await scene('generate_content', upstream, { array: true, env: { UPSTREAM_IDLE_TIMEOUT_MS: '60000' } })
        const started = await other.call()
        const { head, content } = framesOf(upstream)
        started.head()
        started.push(head.join('') + content[0])
        await other.clock.advance('61s')
        const items = JSON.parse(await other.read()) as { candidates?: object[]; error?: { code: number; message: string } }[]
        expect(items[0]?.candidates).toHaveLength(1)
        expect(items.at(-1)?.error).toMatchObject({ code: 504, message: expect.stringContaining('silent') })
        expect(other.ended()).toBe(true)
      })
    }
  })
})

describe('the frame that ends a broken stream', () => {
  const SHAPES: Record<Dialect, (frame: string) => void> = {
    chat(frame) {
      const chunk = JSON.parse(frame.slice(6)) as Record<string, unknown>
      expect(chunk).toMatchObject({
        object: 'chat.completion.chunk',
        id: expect.any(String),
        created: expect.any(Number),
        model: expect.any(String),
      })
      expect(chunk.error).toMatchObject({
        message: expect.stringContaining('it broke'),
        type: expect.any(String),
        code: expect.anything(),
      })
      expect(chunk).not.toHaveProperty('choices')
    },
    messages(frame) {
      expect(frame.startsWith('event: error\ndata: ')).toBe(true)
      const event = JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as object
      expect(event).toEqual({ type: 'error', error: { type: 'api_error', message: expect.stringContaining('it broke') } })
    },
    responses(frame) {
      expect(frame.startsWith('event: response.failed\ndata: ')).toBe(true)
      const event = JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as object
      expect(event).toMatchObject({
        type: 'response.failed',
        sequence_number: expect.any(Number),
        response: { status: 'failed', error: { code: expect.any(String), message: expect.stringContaining('it broke') } },
      })
      expect(JSON.stringify(event)).toContain('fine')
    },
    generate_content(frame) {
      const event = JSON.parse(frame.slice(6)) as object
      expect(event).toMatchObject({
        error: { code: expect.any(Number), status: expect.any(String), message: expect.stringContaining('it broke') },
      })
    },
  }
  it.each(pairs)('$caller → $upstream', async ({ caller, upstream }) => {
    await count.run('frame', `${caller} → ${upstream}`, async () => {
      const at = await scene(caller, upstream)
      const call = await at.call()
      const { head, content } = framesOf(upstream)
      call.head()
      call.push([...head, ...content, ...RENDERERS[upstream].errorFrames('it broke', 500)].join(''))
      const answer = await at.read()
      expect(at.ended()).toBe(true)
      expect(answer).not.toContain('[DONE]')
      const frames = answer.trim().split(/\r?\n\r?\n/)
      SHAPES[caller](frames.at(-1) as string)
      expect(call.aborted).not.toBeNull()
      await at.t.untilSettled()
      expect(at.t.settled[0]?.outcome).toMatchObject({ status: 502, steps: [{ status: 502 }] })
    })
  })
})

describe('back-pressure', () => {
  it.each(pairs)('$caller → $upstream: a reader that waits holds the upstream within the high-water mark', async ({
    caller,
    upstream,
  }) => {
    const { head, content } = framesOf(upstream, 'x'.repeat(2000), 1000)
    let waits = 0
    let peak = 0
    const transport = memoryTransport(async (sent) => {
      sent.head()
      await sent.push(head.join(''))
      for (let i = 0; i < 2000 && sent.aborted === null; i++) {
        const waiting = sent.push(content[0] as string)
        if (waiting === undefined) continue
        waits++
        peak = Math.max(peak, sent.pushed)
        await waiting
      }
    })
    const t = await createTestGateway({ ports: { transport } })
    closing.push(t)
    const { path, body } = pathAndBody(caller, `${upstream}/m`, true)
    const response = await t.post(path, body)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await expect.poll(() => waits, { interval: 1 }).toBeGreaterThan(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(peak).toBeLessThan(400_000)
    await reader.cancel()
    await t.untilSettled()
    expect(t.settled[0]?.outcome.status).toBe(499)
    expect(transport.sent[0]?.aborted).not.toBeNull()
    await count.run('pressure', `${caller} → ${upstream}`, async () => {})
  })
})

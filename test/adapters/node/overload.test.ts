// More load than the gateway can hold: bodies are limited, slow ones are aborted, and under pressure new requests are refused while
// accepted ones continue.
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type PressureLimits, watchPressure } from '../../../adapters/node/server/pressure.ts'
import type { RunningServer } from '../../../adapters/node/server/serve.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { Pressure } from '../../../core/load/overload.ts'
import { ask, collect, DIALECTS, eventually, openSocket, post, until } from './support.ts'

const closing: (() => Promise<void>)[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const close of closing.splice(0)) await close()
})

async function listening(options: TestGatewayOptions = {}): Promise<{ t: TestGateway; server: RunningServer }> {
  const t = await createTestGateway(options)
  closing.push(() => t.close())
  return { t, server: await t.listen() }
}

const ONE = 'the-first-client-key-of-the-overload'
const TWO = 'the-second-client-key-of-the-overload'
const ECHO = { connections: { echo: { provider: 'echo' } }, keys: { one: { secret: ONE }, two: { secret: TWO } } }

/** A POST with only `sent` bytes of its body; `declared` null: chunked. */
async function hold(
  port: number,
  sent: number,
  declared: number | null,
  key?: string,
): Promise<{ socket: Socket; answer(): string }> {
  const socket = await openSocket(port)
  sockets.push(socket)
  socket.on('error', () => {})
  const answer = collect(socket)
  const length = declared === null ? 'transfer-encoding: chunked' : `content-length: ${declared}`
  const credential = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n${credential}${length}\r\n\r\n`)
  const text = ' '.repeat(sent)
  socket.write(declared === null ? `${sent.toString(16)}\r\n${text}\r\n` : text)
  return { socket, answer }
}

const received = async (t: TestGateway) => Number(/gateway_receiving_bytes (\d+)/.exec(await t.gateway.metrics.text())?.[1])
const untilReceived = (t: TestGateway, bytes: number) => eventually(async () => (await received(t)) === bytes)

describe('bytes of bodies that are being received', () => {
  const LIMITS = { MAX_RECEIVING_BYTES: '100000', MAX_RECEIVING_BYTES_PER_KEY: '60000' }

  it('beyond the bound in all: 503 with Retry-After before anything more is read, by length and chunked', async () => {
    const { t, server } = await listening({ config: ECHO, env: LIMITS })
    await hold(server.port, 50_000, 55_000, ONE)
    await untilReceived(t, 50_000)
    await hold(server.port, 40_000, 45_000, TWO)
    await untilReceived(t, 90_000)
    for (const declared of [20_000, null]) {
      const { answer } = await hold(server.port, declared === null ? 20_000 : 0, declared)
      await until(() => answer().includes('overloaded'))
      expect(answer()).toMatch(/^HTTP\/1\.1 503 /)
      expect(answer()).toMatch(/retry-after: 1\r\n/i)
    }
    expect(await received(t)).toBe(90_000)
    expect(await t.gateway.metrics.text()).toContain('gateway_bodies_shed_total{bound="total"} 2')
    // A small one still fits.
    expect((await post(server.url, ask('chat', 'echo/echo-1'))).status).toBe(200)
  })

  it('beyond the bound of a key only that key is refused, until its bodies are there or its client has left', async () => {
    const { t, server } = await listening({ config: ECHO, env: LIMITS })
    const { socket } = await hold(server.port, 50_000, 55_000, ONE)
    await untilReceived(t, 50_000)
    const refused = await hold(server.port, 0, 20_000, ONE)
    await until(() => refused.answer().includes('overloaded'))
    const other = await hold(server.port, 20_000, 25_000, TWO)
    await untilReceived(t, 70_000)
    expect(other.answer()).toBe('')
    socket.destroy()
    await untilReceived(t, 20_000)
    await hold(server.port, 50_000, 55_000, ONE)
    await untilReceived(t, 70_000)
  })

  it('a body that is alone always fits', async () => {
    const { server } = await listening({
      config: ECHO,
      env: { MAX_RECEIVING_BYTES: '1000', MAX_RECEIVING_BYTES_PER_KEY: '1000' },
    })
    const call = ask('chat', 'echo/echo-1', { text: 'x'.repeat(300_000) })
    expect((await post(server.url, call)).status).toBe(200)
  })

  it('without a socket too', async () => {
    const { t } = await listening({ config: ECHO, env: LIMITS })
    const streams: ReadableStreamDefaultController<Uint8Array>[] = []
    const send = (bytes: number) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          streams.push(controller)
          controller.enqueue(new Uint8Array(bytes).fill(0x20))
        },
      })
      return t.fetch('/v1/chat/completions', { method: 'POST', body, duplex: 'half' } as RequestInit)
    }
    const first = send(50_000)
    await untilReceived(t, 50_000)
    const refused = await send(20_000)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { code: 'overloaded' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    streams[0]?.close()
    expect((await first).status).toBe(400)
    expect(await received(t)).toBe(0)
  })
})

describe('a body that comes too slowly', () => {
  it('is given up with 408 after ten seconds, and holds no connection; one that comes fast enough is not', async () => {
    const clock = fakeClock()
    const { t, server } = await listening({ config: ECHO, env: { MIN_BODY_BYTES_PER_SEC: '1000' }, ports: { clock } })
    const slow = await hold(server.port, 5000, 9000)
    const fast = await hold(server.port, 50_000, 500_000)
    await untilReceived(t, 55_000)
    await clock.advance(10_000)
    await until(() => slow.answer().includes('request_timeout'))
    expect(slow.answer()).toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close\r\n/i)
    await until(() => slow.socket.readableEnded)
    await untilReceived(t, 50_000)
    expect(fast.answer()).toBe('')
    // Each span of time is checked by itself.
    await clock.advance(11_000)
    await until(() => fast.answer().includes('request_timeout'))
    await untilReceived(t, 0)
  })
})

describe('under pressure', () => {
  it.each(DIALECTS)('%s: new requests get 503 `overloaded` with Retry-After, streams go on, health answers', async (dialect) => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let pieces = 0
    const held = reply({ text: 'word '.repeat(16), chunk: 5 }, { hold: () => (++pieces > 10 ? released : undefined) })
    const { t, server } = await listening({ upstream: [held], env: { OVERLOAD_LOOP_DELAY_MS: '0', OVERLOAD_HEAP_PERCENT: '0' } })
    const running = await post(server.url, ask(dialect, `${dialect}/m`, { stream: true }))
    expect(running.status).toBe(200)
    const setLevel = (level: Pressure) => Object.assign(t.gateway.overload, { level })
    setLevel(2)
    const refused = await t.post(ask(dialect, `${dialect}/m`).path, ask(dialect, `${dialect}/m`).body)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.text()).toMatch(/overloaded/)
    for (const path of ['/healthz', '/health/readiness']) expect((await t.fetch(path)).status).toBe(200)
    release()
    expect((await running.text()).match(/word /g)?.length).toBeGreaterThanOrEqual(16)
    setLevel(0)
  })

  it('batches are refused first, interactive requests later', async () => {
    const { t } = await listening({ config: ECHO, env: { OVERLOAD_LOOP_DELAY_MS: '0', OVERLOAD_HEAP_PERCENT: '0' } })
    const { path, body } = ask('chat', 'echo/echo-1')
    const status = async (level: Pressure, headers = {}) => {
      t.gateway.overload.level = level
      return (await t.post(path, body, headers)).status
    }
    const batch = { 'x-gateway-priority': 'batch' }
    expect([await status(0, batch), await status(1, batch), await status(2, batch)]).toEqual([200, 503, 503])
    expect([await status(0), await status(1), await status(2)]).toEqual([200, 200, 503])
    const text = await t.gateway.metrics.text()
    expect(text).toContain('gateway_requests_shed_total{class="batch"} 2')
    expect(text).toContain('gateway_requests_shed_total{class="interactive"} 1')
    expect(text).toContain('gateway_overload_level 2')
  })

  it('level 1 also refuses interactive requests in a turn of the event loop that is late', async () => {
    const { t } = await listening({ config: ECHO, env: { OVERLOAD_LOOP_DELAY_MS: '0', OVERLOAD_HEAP_PERCENT: '0' } })
    const { path, body } = ask('chat', 'echo/echo-1')
    const status = async (level: Pressure, late: boolean) => {
      t.gateway.overload.level = level
      t.gateway.overload.isLate = () => late
      return (await t.post(path, body)).status
    }
    expect([await status(0, true), await status(1, false), await status(1, true)]).toEqual([200, 200, 503])
  })

  it.each([
    ['a short body', 2000, 'keep-alive'],
    ['a body that is not worth reading', 200_000, 'close'],
  ])('a refusal behind %s leaves the connection %s', async (_what, bytes, connection) => {
    const { t, server } = await listening({ config: ECHO })
    t.gateway.overload.level = 2
    t.gateway.overload.isLate = () => true
    const setLevel = setInterval(() => Object.assign(t.gateway.overload, { level: 2 }), 1)
    const { socket, answer } = await hold(server.port, 10, bytes)
    await eventually(async () => /^HTTP\/1\.1 503 /.test(answer()))
    clearInterval(setLevel)
    expect(answer().toLowerCase()).toContain(`connection: ${connection}`)
    if (connection === 'close') return
    // The rest of the body is dropped, and the next request on the same connection is served.
    t.gateway.overload.level = 0
    socket.write(' '.repeat(bytes - 10))
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await eventually(async () => /HTTP\/1\.1 200 /.test(answer()))
  })
})

describe('the measure of pressure', () => {
  /** An event loop that is late by this many ms at each check. */
  function late(limits: PressureLimits, heap = () => 10) {
    let now = 0
    let queue = 0
    let tick = (): void => {}
    const every = (_ms: number, fn: () => void) => {
      tick = fn
      return { cancel() {} }
    }
    const clock = { ...fakeClock(), monotonic: () => now, every }
    const overload = { level: 0 as Pressure, isLate: () => false }
    watchPressure(
      { overload } as never,
      () => limits,
      clock,
      () => queue,
      heap,
    )
    return Object.assign(
      (...delays: number[]) => {
        for (const delay of delays) {
          now += 100 + delay
          tick()
        }
        return overload.level
      },
      {
        /** Since the last check. */
        isLateAfter(ms: number) {
          now += ms
          const isLate = overload.isLate()
          now -= ms
          return isLate
        },
        /** Returns the level after a check, and how many of 160 requests are refused now. */
        queued(ms: number) {
          queue = ms
          now += 100
          tick()
          return [overload.level, Array.from({ length: 160 }, () => overload.isLate()).filter(Boolean).length]
        },
      },
    )
  }

  it('one long stop is no overload, a loop that stays late is, and it ends with it', () => {
    const levelAfter = late({ loopDelayMs: 200, heapPercent: 0 })
    expect(levelAfter(0, 0, 0, 0, 0)).toBe(0)
    expect(levelAfter(5000, 3000, 0, 0, 0)).toBe(0)
    expect(levelAfter(150, 150, 150, 150, 150)).toBe(1)
    expect(levelAfter(250, 250, 250)).toBe(2)
    expect(levelAfter(0, 0, 0)).toBe(0)
  })

  it('a turn of the event loop is late by half the delay behind the time of the next look', () => {
    const { isLateAfter } = late({ loopDelayMs: 200, heapPercent: 0 })
    expect([isLateAfter(100), isLateAfter(199), isLateAfter(201)]).toEqual([false, false, true])
    expect(late({ loopDelayMs: 0, heapPercent: 95 }).isLateAfter(99_999)).toBe(false)
  })

  it('a burst of connections is no overload, a queue that stands for longer is, until it has been short for a second', () => {
    const { queued } = late({ loopDelayMs: 200, heapPercent: 0 })
    expect(queued(900)[0]).toBe(0)
    // One of sixteen is still accepted.
    expect(queued(1001)).toEqual([1, 150])
    expect(queued(60)).toEqual([1, 0])
    expect(queued(150)).toEqual([1, 150])
    const calm = Array.from({ length: 11 }, () => queued(0))
    expect(calm.map(([level]) => level)).toEqual([...Array(10).fill(1), 0])
    expect(queued(900)[0]).toBe(0)
    expect(late({ loopDelayMs: 0, heapPercent: 95 }).queued(99_999)).toEqual([0, 0])
  })

  it('a heap near its limit refuses batches first', () => {
    let heap = 50
    const levelAfter = late({ loopDelayMs: 0, heapPercent: 95 }, () => heap)
    expect(levelAfter(9999)).toBe(0)
    heap = 90
    expect(levelAfter(0)).toBe(1)
    heap = 96
    expect(levelAfter(0)).toBe(2)
    heap = 60
    expect(levelAfter(0)).toBe(0)
  })
})

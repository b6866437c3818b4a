// A thousand aborted streams over a pool of two leave no socket, running request, timer or listener behind.
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, hang, reply, type TestGateway, text } from '../../adapters/testing/index.ts'
import { undiciTransport } from '../../adapters/transport/undici.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock, Timer } from '../../core/types/ports/ports.ts'
import { DIALECTS } from './support/accounts.ts'
import { framesOf } from './support/faults.ts'
import { pathAndBody } from './support/wire.ts'

/** The system clock, with a count of running timers. */
function countedClock(): Clock & { running: number } {
  const clock = {
    ...systemClock,
    running: 0,
    timer: (ms: number, fn: () => void, background?: boolean) => {
      const over = begun()
      const fired = (): void => {
        over()
        fn()
      }
      return ending(over, systemClock.timer(ms, fired, background))
    },
    every: (ms: number, fn: () => void) => ending(begun(), systemClock.every(ms, fn)),
  }
  /** Returns a function that ends it; only its first call counts. */
  const begun = (): (() => void) => {
    let live = true
    clock.running++
    return () => {
      if (live) clock.running--
      live = false
    }
  }
  const ending = (over: () => void, timer: Timer): Timer => ({
    cancel() {
      over()
      timer.cancel()
    },
  })
  return clock
}

const STREAMS = 1000
const AT_ONCE = 50
const clock = countedClock()
let t: TestGateway
let url = ''
/** Timers of the gateway itself for its periodic work. */
let standing = 0
const arrivals = new Map<string, () => void>()
beforeAll(async () => {
  t = await createTestGateway({
    ports: { clock, transport: undiciTransport({ maxConnections: 2 }) },
    env: { STREAM_HEARTBEAT_MS: '100', REQUEST_DEADLINE_MS: '600000' },
  })
  standing = clock.running
  const server = await t.listen()
  url = server.url
  server.server.on('request', (req: IncomingMessage) => arrivals.get(String(req.headers['x-index']))?.())
})
afterAll(async () => {
  await t.close()
})

const resources = () => {
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function send(index: number): ClientRequest {
  const caller = DIALECTS[index % 4]!
  const upstream = DIALECTS[(index >> 2) % 4]!
  const { path, body } = pathAndBody(caller, `${upstream}/m`, true)
  const req = request(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-index': String(index) },
    agent: false,
  })
  req.on('error', () => {})
  req.end(JSON.stringify(body))
  return req
}

/** Leaves while the upstream is silent, while it streams, or while the request still waits for a connection. */
async function abort(index: number): Promise<void> {
  const arrived = new Promise<void>((resolve) => arrivals.set(String(index), resolve))
  const req = send(index)
  await arrived
  arrivals.delete(String(index))
  if (index % 3 === 0) {
    for (let turns = index % 7; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
    req.destroy()
    return
  }
  const response = await Promise.race([once(req, 'response') as Promise<[IncomingMessage]>, once(req, 'close')])
  const res = response[0] as IncomingMessage | undefined
  if (res !== undefined) {
    res.on('error', () => {})
    await Promise.race([once(res, 'data'), once(res, 'close')])
  }
  req.destroy()
}

describe(`${STREAMS} aborted streams on a pool of 2`, () => {
  it('leave nothing behind', { timeout: 240_000 }, async () => {
    const content = framesOf('chat').head.length + 2
    t.upstream.script(text('warm'))
    for (let index = 0; index < 16; index++) {
      const { path, body } = pathAndBody('chat', 'chat/m', true)
      await (
        await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), headers: { connection: 'close' } })
      ).text()
    }
    await t.untilSettled(16)
    await expect.poll(() => clock.running, { interval: 20 }).toBe(standing)
    const warnings: string[] = []
    process.on('warning', ({ name, message }) => void warnings.push(`${name}: ${message}`))
    const before = resources()

    // Half of them stall after content, half before it.
    t.upstream.script(
      ...Array.from({ length: STREAMS * 2 }, (_, index) =>
        index % 2 ? hang() : reply({ text: 'fine, thank you' }, { stallAfter: content + 6 }),
      ),
    )
    for (let at = 0; at < STREAMS; at += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => abort(at + index)))
    await t.untilSettled(16 + STREAMS)

    expect(t.settled).toHaveLength(16 + STREAMS)
    expect(t.settled.slice(16).every(({ outcome }) => outcome.aborted && outcome.status === 499)).toBe(true)
    expect([...t.gateway.live()]).toEqual([])
    await expect.poll(() => t.upstream.connections, { interval: 10 }).toBeLessThanOrEqual(2)
    const open = () => t.upstream.requests.slice(16).filter(({ abortedAt }) => abortedAt === null).length
    await expect.poll(open, { interval: 10 }).toBe(0)
    // The ticker stops after some time without members.
    await expect.poll(() => clock.running, { interval: 20 }).toBe(standing)

    // The pool still works, with both of its connections.
    t.upstream.script(text('fine'))
    const both = [0, 1].map(() => t.post('/v1/chat/completions', pathAndBody('chat', 'chat/m', false).body))
    for (const response of await Promise.all(both)) expect(response.status).toBe(200)
    await t.untilSettled(18 + STREAMS)
    await expect.poll(() => clock.running, { interval: 20 }).toBe(standing)

    const leaked = () => {
      const after = resources()
      return Object.entries(after).flatMap(([name, count]) =>
        count > (before[name] ?? 0) ? [`${name} +${count - (before[name] ?? 0)}`] : [],
      )
    }
    // Sockets of the two idle connections may exist on both sides.
    await expect.poll(() => leaked().filter((line) => !/^TCPSocketWrap \+[1-4]$/.test(line)), { interval: 20 }).toEqual([])
    expect(warnings.filter((line) => line.startsWith('MaxListeners'))).toEqual([])
    process.stdout.write(
      `leaks: ${STREAMS} aborted streams, ${t.upstream.connections} upstream sockets, 0 running, 0 timers, ${leaked().join(' ') || 'no resource more'}\n`,
    )
  })
})

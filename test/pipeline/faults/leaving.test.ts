// Faults in which a side leaves: the client before and during an answer, a client that does not read, the gateway itself.
import { once } from 'node:events'
import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../../../adapters/node/index.ts'
import { type FakeClock, fakeClock, frames, hang, reply, text } from '../../../adapters/testing/index.ts'
import { type Accounts, type AccountsOptions, accounts, DIALECTS, FINE } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { clients } from '../support/clients.ts'
import { type Cell, expectInStream, framesOf, nameOf, pairs } from '../support/faults.ts'
import { pathAndBody } from '../support/wire.ts'

const count = cells('fault matrix, leaving')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})
async function world(options: AccountsOptions = {}): Promise<Accounts> {
  const at = await accounts(options)
  closing.push(at)
  return at
}
const started = ({ upstream }: Cell) => framesOf(upstream).head.length + 2

describe('the client leaves', () => {
  const latencies: number[] = []
  async function leaves(at: Accounts, cell: Cell, moment: 'waiting' | 'streaming'): Promise<void> {
    const before = at.bad.requests.length
    const controller = new AbortController()
    let left = 0
    const leave = () => {
      left = performance.now()
      controller.abort()
    }
    const asking = at.clients[cell.caller]({
      model: `two-${cell.upstream}/m`,
      stream: cell.stream,
      signal: controller.signal,
      ...(moment === 'streaming' ? { onDelta: leave } : {}),
    }).catch(() => {})
    await expect.poll(() => at.bad.requests.length, { interval: 1 }).toBe(before + 1)
    if (moment === 'waiting') leave()
    await asking
    const { outcome, attempts } = await at.settle()
    await expect.poll(() => at.bad.requests.at(-1)?.abortedAt, { interval: 1 }).not.toBeNull()
    latencies.push((at.bad.requests.at(-1)?.abortedAt as number) - left)
    expect([at.bad.requests.length - before, at.good.requests.length]).toEqual([1, 0])
    expect(attempts).toHaveLength(1)
    expect(outcome).toMatchObject({ status: 499, aborted: true })
    expect([...at.t.gateway.live()]).toEqual([])
    if (moment === 'waiting') expect(outcome).toMatchObject({ steps: [], usage: { total: 0 } })
    else {
      expect(outcome.steps).toMatchObject([{ status: 499 }])
      expect(outcome.usage.outputTotal).toBeGreaterThan(0)
    }
  }

  it('before the upstream has answered', async () => {
    const at = await world()
    at.bad.script(hang())
    for (const cell of pairs({})) await count.run('38', nameOf(cell), () => leaves(at, cell, 'waiting'))
  })

  it('in the middle of the stream', async () => {
    const at = await world()
    for (const cell of pairs({ modes: ['stream'] })) {
      at.bad.script(reply({ text: FINE }, { stallAfter: started(cell) }))
      await count.run('39', nameOf(cell), () => leaves(at, cell, 'streaming'))
    }
    const sorted = latencies.sort((a, b) => a - b)
    const [median, worst] = [sorted[sorted.length >> 1] as number, sorted.at(-1) as number]
    // The median, because the machine causes the worst case. test/pipeline-formats.test.ts checks that each is closed within 100 ms.
    expect(median).toBeLessThan(100)
    process.stdout.write(
      `client left → upstream closed: median ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms of ${sorted.length}\n`,
    )
  })
})

describe('a client that does not read', () => {
  it('stops the upstream; after 120 s it has left, and the upstream is closed', async () => {
    const clock = fakeClock()
    const at = await world({ ports: { clock }, env: { UPSTREAM_IDLE_TIMEOUT_MS: '60000' } })
    for (const caller of DIALECTS) {
      await count.run('40', caller, async () => {
        await slowReader(at, clock, { caller, upstream: caller, stream: true })
      })
    }
    await count.run('40', 'messages → chat', () => slowReader(at, clock, { caller: 'messages', upstream: 'chat', stream: true }))
  })

  async function slowReader(at: Accounts, clock: FakeClock, cell: Cell): Promise<void> {
    const { head, content } = framesOf(cell.upstream, 'x'.repeat(4000), 2000)
    const many = Array.from({ length: 20_000 }, () => content[0] as string)
    at.bad.script(frames([...head, ...many]))
    const settled = at.t.settled.length
    const { path, body } = pathAndBody(cell.caller, `two-${cell.upstream}/m`, true)
    const req = request(`${at.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' } })
    req.end(JSON.stringify(body))
    const [res] = (await once(req, 'response')) as [import('node:http').IncomingMessage]
    res.pause()
    res.on('error', () => {})
    const through = () => [...at.t.gateway.live()][0]?.contentBytes ?? 0
    await expect.poll(through, { interval: 5 }).toBeGreaterThan(0)
    let before = -1
    let same = 0
    // Several checks: after a stall of the machine two may follow each other directly.
    const still = (): number => {
      same = through() === before ? same + 1 : 0
      before = through()
      return same
    }
    await expect.poll(still, { interval: 40 }).toBe(4)
    expect(before).toBeLessThan(16 << 20)
    // While the reader holds the stream, it does not count as idle.
    await clock.advance('90s')
    expect(at.t.settled).toHaveLength(settled)
    await clock.advance('31s')
    await at.t.untilSettled(settled + 1)
    expect(at.t.settled.at(-1)?.outcome).toMatchObject({ status: 499, aborted: true })
    await expect.poll(() => at.bad.requests.at(-1)?.abortedAt, { interval: 1 }).not.toBeNull()
    res.destroy()
  }
})

describe('the gateway shuts down', () => {
  it('readiness is 503 at once; what ends within the drain ends normally, the rest in the error frame; all is settled', async () => {
    for (const caller of DIALECTS) {
      await count.run('45', caller, async () => {
        const clock = fakeClock()
        const at = await accounts({ ports: { clock } })
        const server = await serve(at.t.gateway, { host: '127.0.0.1', port: 0, drainMs: 1000 })
        const ask = clients(server.url)[caller]
        const begun = started({ caller, upstream: 'chat', stream: true })
        let release = (): void => {}
        const released = new Promise<void>((resolve) => {
          release = resolve
        })
        let pieces = 0
        at.bad.script(
          text(FINE, { hold: () => (++pieces > begun ? released : undefined) }),
          reply({ text: FINE }, { stallAfter: begun }),
        )
        const finishing = ask({ model: 'two-chat/m', stream: true })
        await expect.poll(() => at.bad.requests.length, { interval: 1 }).toBe(1)
        const stalled = ask({ model: 'two-chat/m', stream: true })
        await expect
          .poll(() => [...at.t.gateway.live()].filter(({ contentBytes }) => contentBytes > 0).length, { interval: 1 })
          .toBe(2)
        const closed = server.close()
        const ready = await at.t.fetch('/health/readiness')
        expect(ready.status).toBe(503)
        release()
        expect(await finishing).toMatchObject({ text: FINE, raised: null })
        let over = false
        void closed.then(() => {
          over = true
        })
        while (!over) {
          await clock.advance(100)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
        expectInStream((await stalled).raised)
        await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
        expect(at.t.settled.map(({ outcome }) => outcome.status)).toEqual([200, 502])
        expect(at.t.settled[1]?.outcome.usage.outputTotal).toBeGreaterThan(0)
        await expect.poll(() => at.bad.requests[1]?.abortedAt, { interval: 1 }).not.toBeNull()
        await at.close()
      })
    }
  })
})

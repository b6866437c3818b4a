// Faults in which an answer stalls, breaks off or never ends.
import { afterEach, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock, frames, hang, reply, type Step, text } from '../../../adapters/testing/index.ts'
import { type Accounts, type AccountsOptions, accounts, FINE } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { afterContent, answersAnyway, beforeContent, type Cell, type Fault, framesOf, nameOf, pairs } from '../support/faults.ts'

const count = cells('fault matrix, streams')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

async function world(options: AccountsOptions = {}): Promise<{ at: Accounts; clock: FakeClock }> {
  const clock = fakeClock()
  const at = await accounts({ ...options, ports: { clock } })
  closing.push(at)
  return { at, clock }
}

const called = (at: Accounts, calls: number) => expect.poll(() => at.bad.requests.length, { interval: 1 }).toBe(calls)
/** The call sends nothing more: the clock advances until the gateway aborts it. Data that was still in transit counts as activity. */
async function silence(at: Accounts, clock: FakeClock, calls: number, time: string): Promise<void> {
  await called(at, calls)
  const givenUp = () => at.bad.requests[calls - 1]?.abortedAt !== null
  while (!givenUp()) {
    await clock.advance(time)
    // Turns, not time: on a machine that stalls a second may contain none.
    for (let turn = 0; turn < 100 && !givenUp(); turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const cutAfter =
  (how: 'fin' | 'reset', frameCount: (cell: Cell) => number) =>
  (cell: Cell): Step => {
    if (!cell.stream) return reply({ text: FINE }, { cut: { after: 20, how } })
    return reply({ text: FINE }, { cut: { after: frameCount(cell), how } })
  }
const heldBack = ({ upstream }: Cell) => framesOf(upstream).head.length
const started = ({ upstream }: Cell) => framesOf(upstream).head.length + 2

describe('before the first content', () => {
  it('headers that never come end at the idle timeout', async () => {
    const { at, clock } = await world({ env: { STREAM_HEARTBEAT_MS: '0' } })
    const drive: Fault['drive'] = async (_, calls) => {
      await silence(at, clock, calls, '121s')
    }
    await beforeContent(at, count, { row: '5', title: 'slow headers', step: hang, status: 504, code: 'upstream_timeout', drive })
  })

  it('after a heartbeat another account may still answer; else the stream ends in the error frame', async () => {
    const { at, clock } = await world({ env: { UPSTREAM_IDLE_TIMEOUT_MS: '20000' } })
    const drive: Fault['drive'] = async (_, calls) => {
      await silence(at, clock, calls, '21s')
    }
    const fault: Fault = { row: '5', title: 'slow headers after a ping', step: hang, status: 504, drive }
    await beforeContent(at, count, { ...fault, modes: ['stream'], opened: true })
  })

  it('a stall after the head, before any content', async () => {
    const { at, clock } = await world({ env: { STREAM_HEARTBEAT_MS: '0' } })
    const step = ({ upstream }: Cell) => reply({ text: FINE }, { stallAfter: framesOf(upstream).head.length })
    const drive: Fault['drive'] = async (_, calls) => {
      await silence(at, clock, calls, '121s')
    }
    await beforeContent(at, count, { row: '6', title: 'stall', modes: ['stream'], step, status: 504, drive })
  })

  it('a reset in the middle of the answer', async () => {
    const { at } = await world()
    await beforeContent(at, count, {
      row: '7',
      title: 'RST',
      step: cutAfter('reset', heldBack),
      status: 502,
      upstreams: ['chat', 'messages', 'responses'],
    })
    await beforeContent(at, count, {
      row: '7',
      title: 'RST',
      modes: ['plain'],
      step: cutAfter('reset', heldBack),
      status: 502,
      upstreams: ['generate_content'],
    })
  })

  it('an end in the middle of the answer', async () => {
    const { at } = await world()
    await beforeContent(at, count, { row: '8', title: 'FIN', step: cutAfter('fin', heldBack), status: 502 })
  })

  it('an event larger than the limit', async () => {
    const { at } = await world()
    for (const upstream of ['chat', 'generate_content'] as const)
      await beforeContent(at, count, {
        row: '16',
        title: 'huge event',
        modes: ['stream'],
        upstreams: [upstream],
        callers: [upstream, 'messages'],
        step: () => frames([HUGE]),
        status: 502,
      })
  })
})

const HUGE = `data: {"x":"${'x'.repeat(9 << 20)}"}\n\n`

describe('after the first content', () => {
  it('a stall ends in the error frame at the idle timeout', async () => {
    const { at, clock } = await world({ env: { STREAM_HEARTBEAT_MS: '0' } })
    let calls = 0
    const step = (cell: Cell) => {
      calls++
      void called(at, calls).then(async () => {
        // The content must have arrived before the clock advances.
        await expect.poll(() => [...at.t.gateway.live()][0]?.contentBytes ?? 0, { interval: 1 }).toBeGreaterThan(0)
        await silence(at, clock, at.bad.requests.length, '121s')
      })
      return reply({ text: FINE }, { stallAfter: started(cell) })
    }
    await afterContent(at, count, { row: '6', title: 'stall', step })
  })

  it('a reset', async () => {
    const { at } = await world()
    const step = (cell: Cell) => reply({ text: FINE }, { cut: { after: started(cell), how: 'reset' }, everyMs: 2 })
    await afterContent(at, count, { row: '7', title: 'RST', step })
  })

  it('an end without a terminal event, chunked cut or clean', async () => {
    const { at } = await world()
    await afterContent(at, count, { row: '8', title: 'chunked cut', step: cutAfter('fin', started) })
    const clean = ({ upstream }: Cell) => frames([...framesOf(upstream).head, ...framesOf(upstream).content])
    await afterContent(at, count, { row: '8', title: 'clean EOF', step: clean })
  })

  it('an end after the finish, without the last word, is a normal end', async () => {
    const { at } = await world()
    const all = (upstream: Cell['upstream']) => framesOf(upstream).all
    await answersAnyway(at, count, {
      row: '8',
      title: 'no [DONE]',
      modes: ['stream'],
      upstreams: ['chat', 'messages'],
      step: ({ upstream }) => frames(all(upstream).slice(0, -1)),
    })
    const cut = ({ upstream }: Cell) => frames(all(upstream), { cut: { after: all(upstream).length, how: 'fin' } })
    await answersAnyway(at, count, { row: '8', title: 'a cut after the last word', modes: ['stream'], step: cut })
  })

  it('an event larger than the limit', async () => {
    const { at } = await world()
    const step = ({ upstream }: Cell) => frames([...framesOf(upstream).head, ...framesOf(upstream).content, HUGE])
    await afterContent(at, count, { row: '16', title: 'huge event', upstreams: ['messages', 'responses'], step })
  })
})

describe('REQUEST_DEADLINE_MS', () => {
  it('before the answer: 504, and no further attempts', async () => {
    const { at, clock } = await world({ env: { REQUEST_DEADLINE_MS: '5000', STREAM_HEARTBEAT_MS: '0' } })
    for (const cell of pairs({})) {
      await count.run('43', nameOf(cell), async () => {
        at.bad.script(hang())
        const before = at.bad.requests.length
        const asking = at.clients[cell.caller]({ model: `two-${cell.upstream}/m`, stream: cell.stream })
        await called(at, before + 1)
        await clock.advance('5s')
        expect((await asking).raised).toMatchObject({ status: 504 })
        const { outcome, attempts } = await at.settle()
        expect([outcome.status, outcome.error?.code, attempts.length, at.good.requests.length]).toEqual([
          504,
          'upstream_timeout',
          1,
          0,
        ])
        await expect.poll(() => at.bad.requests.at(-1)?.abortedAt, { interval: 1 }).not.toBeNull()
      })
    }
  })

  it('a started stream is not cut', async () => {
    const { at, clock } = await world({ env: { REQUEST_DEADLINE_MS: '5000' } })
    for (const cell of pairs({ modes: ['stream'], upstreams: ['chat', 'messages'] })) {
      await count.run('43', `${nameOf(cell)}, started`, async () => {
        at.bad.script(text(FINE, { everyMs: 3 }))
        let advanced: Promise<void> | null = null
        const onDelta = () => {
          advanced ??= clock.advance('30s')
        }
        const seen = await at.clients[cell.caller]({ model: `two-${cell.upstream}/m`, stream: true, onDelta })
        await advanced
        expect(seen).toMatchObject({ raised: null, text: FINE })
        expect((await at.settle()).outcome.status).toBe(200)
      })
    }
  })
})

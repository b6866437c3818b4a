// Account state after network faults: unreachable upstreams, dead proxies and stale sockets, from the first failure to recovery.
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  certificate,
  closedPort,
  createTestGateway,
  fakeClock,
  reset,
  scriptedUpstream,
  secureUpstream,
  text,
} from '../../../adapters/testing/index.ts'
import type { ConnectionConfig } from '../../../core/config/define.ts'
import { DIALECTS } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { type Cell, nameOf, pairs } from '../support/faults.ts'
import { pathAndBody } from '../support/wire.ts'

const count = cells('fault matrix, state of accounts, network')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

/** For each dialect an account at `origin`, followed by a working one. */
async function started(origin: string | null, more: Partial<ConnectionConfig> = {}) {
  const clock = fakeClock()
  const upstream = await scriptedUpstream(text('good'))
  const connections: Record<string, ConnectionConfig> = {}
  for (const dialect of DIALECTS) {
    const version = dialect === 'generate_content' ? 'v1beta' : 'v1'
    const baseUrl = origin === null ? upstream.baseUrl(dialect) : `${origin}/${version}`
    const of = { provider: `up-${dialect}`, wireFormat: dialect, apiKey: 'sk-x' }
    connections[`${dialect}.1`] = { ...of, baseUrl, ...more }
    connections[`${dialect}.2`] = { ...of, baseUrl: upstream.baseUrl(dialect) }
  }
  const t = await createTestGateway({ config: { connections }, ports: { clock } })
  closing.push(upstream, t)
  return {
    clock,
    upstream,
    async ask({ caller, upstream: dialect, stream }: Cell) {
      const settled = t.settled.length
      const { path, body } = pathAndBody(caller, `up-${dialect}/m`, stream)
      const response = await t.post(path, body)
      expect([response.status, (await response.text()).length > 0]).toEqual([200, true])
      await t.untilSettled(settled + 1)
      return t.settled[settled]?.ctx.attempts.map(({ action, skipped }) => skipped?.reason ?? action)
    },
    async state(dialect: string) {
      const { data } = (await (await t.fetch('/api/providers')).json()) as {
        data: { label: string; state: { breaker: string; consecutive_failures: number; status: string } }[]
      }
      const { breaker, consecutive_failures, status } = data.find(({ label }) => label === `${dialect}.1`)?.state ?? {}
      return [breaker, consecutive_failures, status]
    },
  }
}

const MOVED = ['next_account', 'returned']
const cellsOf = (upstream: Cell['upstream']) => pairs({ upstreams: [upstream] })

describe('an upstream that cannot be reached', () => {
  const dead: [title: string, row: string, origin: () => Promise<string>][] = [
    ['a refused connection', '1', async () => `http://127.0.0.1:${await closedPort()}`],
    [
      'a wrong certificate',
      '3',
      async () => {
        const secure = await secureUpstream(certificate({ host: 'elsewhere.example' }), text('never'))
        closing.push(secure)
        return `https://127.0.0.1:${secure.port}`
      },
    ],
    ['a name that does not resolve', '4', async () => 'http://no-such-host.invalid'],
  ]

  it.each(dead)('%s opens the circuit after five failures, and again for longer', async (_title, row, origin) => {
    const { clock, ask, state } = await started(await origin())
    for (const upstream of DIALECTS) {
      for (const [index, cell] of cellsOf(upstream).entries()) {
        await count.run(row, nameOf(cell), async () => {
          if (index === 6) await clock.advance('30s')
          const open = index === 5 || index === 7
          expect(await ask(cell)).toEqual(open ? ['circuit_open', 'returned'] : MOVED)
          const failures = index < 6 ? Math.min(5, index + 1) : 6
          expect(await state(upstream)).toEqual(index < 4 ? ['closed', failures, 'active'] : ['open', failures, 'circuit_open'])
        })
      }
      await clock.advance('59999ms')
      expect(await ask({ caller: 'chat', upstream, stream: false })).toEqual(['circuit_open', 'returned'])
    }
  })

  it('an address that answers again is found by the probe', async () => {
    const port = await closedPort()
    const { clock, ask, state, upstream: good } = await started(`http://127.0.0.1:${port}`)
    for (const upstream of DIALECTS) for (const cell of cellsOf(upstream).slice(0, 5)) await ask(cell)
    const gate = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      const through = connect(good.port, '127.0.0.1')
      through.on('error', () => socket.destroy())
      socket.pipe(through).pipe(socket)
    })
    await new Promise<void>((resolve) => gate.listen(port, '127.0.0.1', resolve))
    closing.unshift({ close: () => new Promise((resolve) => gate.close(() => resolve())) })
    await clock.advance('30s')
    for (const upstream of DIALECTS)
      await count.run('1', `${upstream}, back`, async () => {
        expect(await ask({ caller: 'messages', upstream, stream: true })).toEqual(['returned'])
        expect(await state(upstream)).toEqual(['closed', 0, 'active'])
      })
  })
})

describe('what is not the account’s', () => {
  it('a dead proxy is gone past, however often', async () => {
    const { ask, state } = await started('http://127.0.0.1:9', { proxyUrl: `http://127.0.0.1:${await closedPort()}` })
    for (const upstream of DIALECTS)
      for (const cell of cellsOf(upstream))
        await count.run('54', nameOf(cell), async () => {
          expect(await ask(cell)).toEqual(MOVED)
          expect(await state(upstream)).toEqual(['closed', 0, 'active'])
        })
  })

  it('a socket that had been idle too long', async () => {
    const { ask, state, upstream: both } = await started(null)
    for (const upstream of DIALECTS)
      for (const cell of cellsOf(upstream))
        await count.run('9', nameOf(cell), async () => {
          both.script(text('warm'), reset(), text('again'))
          await ask(cell)
          // The socket is reused one turn after its answer.
          for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
          expect(await ask(cell)).toEqual(['retry_fresh_socket', 'returned'])
          expect(await state(upstream)).toEqual(['closed', 0, 'active'])
        })
  })
})

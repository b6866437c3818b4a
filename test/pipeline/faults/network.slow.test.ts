// Network faults before the first byte: the upstream is unreachable, or its connection breaks.
import { afterEach, describe, expect, it } from 'vitest'
import {
  certificate,
  closedPort,
  connectProxy,
  reset,
  secureUpstream,
  silentPort,
  socksProxy,
  tarpit,
  text,
} from '../../../adapters/testing/index.ts'
import { type Accounts, type AccountsOptions, accounts, DIALECTS, FINE } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { beforeContent, type Fault, nameOf, pairs } from '../support/faults.ts'
import { pathAndBody } from '../support/wire.ts'

const count = cells('fault matrix, network')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})
const owned = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(one)
  return one
}

async function unreachable(fault: Fault, options: AccountsOptions): Promise<Accounts> {
  const world = owned(await accounts(options))
  await beforeContent(world, count, fault)
  return world
}

/** Timeouts below undici's resolution of about a second run in parallel, with one gateway for each cell. */
async function inParallel(fault: Fault, origin: string): Promise<void> {
  const env = { UPSTREAM_CONNECT_TIMEOUT_MS: '60' }
  await Promise.all(
    DIALECTS.flatMap((caller, index) =>
      (['plain', 'stream'] as const).map(async (mode, offset) => {
        const upstream = DIALECTS[(index + offset) % 4] as (typeof DIALECTS)[number]
        await unreachable({ ...fault, callers: [caller], upstreams: [upstream], modes: [mode] }, { origin, env })
      }),
    ),
  )
}

describe('the upstream cannot be reached', () => {
  it('a refused connection', async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`
    await unreachable({ row: '1', title: 'connection refused', status: 502, code: 'upstream_error' }, { origin })
  })

  it('no answer to the SYN within the connect timeout', async () => {
    const pit = owned(await tarpit())
    const fault: Fault = { row: '2', title: 'connect timeout', status: 504, code: 'upstream_timeout' }
    await inParallel(fault, `http://127.0.0.1:${pit.port}`)
  })

  const wrong = {
    'self-signed': certificate({ host: '127.0.0.1' }),
    'of another host': certificate({ host: 'elsewhere.example' }),
    expired: certificate({ host: '127.0.0.1', notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') }),
  }
  it.each(Object.entries(wrong))('a certificate that is %s', async (title, tls) => {
    const upstream = owned(await secureUpstream(tls, text('never')))
    const origin = `https://127.0.0.1:${upstream.port}`
    await unreachable({ row: '3', title, status: 502, code: 'upstream_error' }, { origin })
    expect(upstream.requests, 'nothing is sent without verification').toHaveLength(0)
  })

  it('a TLS handshake that stalls', async () => {
    const silent = owned(await silentPort())
    await inParallel({ row: '3', title: 'handshake stall', status: 504 }, `https://127.0.0.1:${silent.port}`)
  })

  it('a name that does not resolve', async () => {
    await unreachable({ row: '4', title: 'DNS', status: 502, upstreams: ['chat'] }, { origin: 'http://no-such-host.invalid' })
  })

  it('a proxy that is dead, wants another password or cannot reach the origin', async () => {
    const proxies = [
      `http://127.0.0.1:${await closedPort()}`,
      `http://user:sk-faulty-proxy@127.0.0.1:${owned(await connectProxy({ credentials: 'user:right' })).port}`,
      `http://127.0.0.1:${owned(await connectProxy({ refuse: 502 })).port}`,
      `socks5://user:sk-faulty-proxy@127.0.0.1:${owned(await socksProxy({ credentials: 'user:right' })).port}`,
      `socks5://127.0.0.1:${owned(await socksProxy({ refuse: 5 })).port}`,
    ]
    for (const proxyUrl of proxies) {
      const world = await accounts({ origin: 'http://127.0.0.1:9', connection: { proxyUrl } })
      await beforeContent(world, count, { row: '54', title: proxyUrl.slice(0, 6), status: 502, upstreams: ['chat', 'messages'] })
      await world.close()
    }
  })
})

describe('the connection dies before a byte', () => {
  it('a reset of a fresh connection moves on', async () => {
    const world = owned(await accounts({ env: { UPSTREAM_POOL_MAX_IDLE_PER_HOST: '0' } }))
    await beforeContent(world, count, { row: '1', title: 'reset', step: () => reset(), status: 502, code: 'upstream_error' })
  })

  it('a reset of a reused connection is sent again once, on the same account', async () => {
    const world = owned(await accounts())
    const { bad, good, clients } = world
    for (const cell of pairs({})) {
      await count.run('9', `${nameOf(cell)}, second try answers`, async () => {
        bad.script(text('warm'), reset(), text('again'))
        const ask = { model: `two-${cell.upstream}/m`, stream: cell.stream }
        expect((await clients[cell.caller](ask)).text).toBe('warm')
        await world.settle()
        await idle()
        const before = bad.requests.length
        expect(await clients[cell.caller](ask)).toMatchObject({ text: 'again', raised: null })
        const { attempts, outcome } = await world.settle()
        expect(attempts.map(({ action }) => action)).toEqual(['retry_fresh_socket', 'returned'])
        expect(new Set(attempts.map(({ candidate }) => candidate.connection.id)).size).toBe(1)
        expect([bad.requests.length - before, good.requests.length, outcome.status]).toEqual([2, 0, 200])
      })
    }
  })

  it('a reset connection is sent again no more than once', async () => {
    const world = owned(await accounts())
    const { bad, good, clients } = world
    for (const cell of pairs({ upstreams: ['chat'] })) {
      await count.run('9', `${nameOf(cell)}, second try dies too`, async () => {
        bad.script(text('warm'), reset(), reset())
        const ask = { model: `two-${cell.upstream}/m`, stream: cell.stream }
        await clients[cell.caller](ask)
        await world.settle()
        await idle()
        const [before, spare] = [bad.requests.length, good.requests.length]
        expect(await clients[cell.caller](ask)).toMatchObject({ text: FINE, raised: null })
        const { attempts } = await world.settle()
        expect(attempts.map(({ action }) => action)).toEqual(['retry_fresh_socket', 'next_account', 'returned'])
        expect([bad.requests.length - before, good.requests.length - spare]).toEqual([2, 1])
      })
    }
  })
})

describe('2.3: the number of calls', () => {
  it('is told to the client, and a walk that failed asks not to be repeated at once', async () => {
    const world = owned(await accounts())
    for (const caller of DIALECTS) {
      await count.run('2.3', `${caller}, headers`, async () => {
        const ask = async (provider: string) => {
          const { path, body } = pathAndBody(caller, `${provider}-${caller}/m`, false)
          const response = await world.t.post(path, body)
          const names = ['x-gateway-attempts', 'x-gateway-provider', 'x-gateway-model', 'x-should-retry']
          return [response.status, ...names.map((name) => response.headers.get(name))]
        }
        world.bad.script({ kind: 'fail', status: 503, message: 'no' })
        expect(await ask('two')).toEqual([200, '2', `two-${caller}`, 'm', null])
        expect(await ask('all')).toEqual([503, '2', null, null, 'false'])
        world.bad.script({ kind: 'fail', status: 413, message: 'no' })
        expect(await ask('all')).toEqual([413, '1', null, null, null])
      })
    }
  })

  it('is at most eight, whatever the number of accounts', async () => {
    const world = owned(await accounts())
    const { bad, clients } = world
    for (const cell of pairs({ upstreams: ['chat', 'messages'] })) {
      await count.run('2.3', nameOf(cell), async () => {
        bad.script({ kind: 'fail', status: 500, message: 'no' })
        const before = bad.requests.length
        const seen = await clients[cell.caller]({ model: `many-${cell.upstream}/m`, stream: cell.stream })
        const { attempts } = await world.settle()
        expect([seen.raised?.status, bad.requests.length - before, attempts.length]).toEqual([500, 8, 8])
        const labels = attempts.map(({ candidate }) => candidate.connection.label)
        expect(labels).toEqual(Array.from({ length: 8 }, (_, index) => `many-${cell.upstream}.${index + 1}`))
      })
    }
  })
})

/** The socket is reused one turn after its answer. */
async function idle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

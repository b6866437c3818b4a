// The circuit of an account, through the gateway.
import { afterEach, describe, expect, it } from 'vitest'
import { broken, fail, hang, reset, text } from '../../../adapters/testing/script.ts'
import { behind, errorIn, until, type World, type WorldOptions, world } from './support.ts'

let w: World
const open = async (options: WorldOptions) => {
  w = await world(options)
  return w
}
afterEach(() => w.close())

const times = async (count: number, run: () => Promise<unknown>) => {
  for (let i = 0; i < count; i++) await run()
}

describe('an account that fails', () => {
  it('is left alone after five failures in a row: 503 until its cooldown is over, and one event', async () => {
    await open({ accounts: [{ script: [fail(500)] }] })
    await times(5, async () => expect(await w.status()).toBe(500))
    const refused = await w.chat()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    expect(await errorIn(refused)).toMatchObject({
      code: 'upstream_unavailable',
      message:
        'No account can take this request now (circuit_open): the upstream failed too often in a row. The next attempt is made in 30 s.',
    })
    expect(w.calls()).toEqual([5])
    expect(w.told).toEqual([
      {
        type: 'provider.circuit_opened',
        data: {
          provider: 'p',
          account_id: expect.any(String),
          occurred_at: expect.stringMatching(/Z$/),
          consecutive_failures: 5,
          cooldown_until: new Date(w.clock.now() + 30_000).toISOString(),
        },
      },
      {
        type: 'account.cooldown_started',
        data: {
          provider: 'p',
          account_id: expect.any(String),
          occurred_at: expect.any(String),
          retry_after_seconds: 30,
          cooldown_until: new Date(w.clock.now() + 30_000).toISOString(),
          source: 'circuit_breaker',
        },
      },
      expect.objectContaining({ type: 'provider.outage' }),
    ])
    expect(await w.states()).toMatchObject([
      {
        status: 'circuit_open',
        breaker: 'open',
        consecutive_failures: 5,
        cooldown_source: 'circuit_breaker',
        last_error: { status: 500, message: 'scripted 500' },
      },
    ])
  })

  it('gets exactly one probe under twenty callers when the cooldown is over, and its success closes the circuit', async () => {
    const { hold, counted } = behind(19)
    await open({ accounts: [{ script: [...Array(5).fill(fail(500)), text('well again', { hold })] }] })
    await times(5, () => w.status())
    await w.clock.advance('30s')
    expect(await w.states()).toMatchObject([{ breaker: 'half_open', status: 'circuit_open' }])
    const seen = await Promise.all(Array.from({ length: 20 }, () => counted(w.chat())))
    expect(seen.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = seen.filter(({ status }) => status === 503)
    expect(refused).toHaveLength(19)
    for (const one of refused) {
      const { message } = await errorIn(one)
      expect(message).toContain(`(circuit_open): the upstream failed too often in a row. The next attempt is made in`)
      expect(message).toContain(` ${one.headers.get('retry-after')} s.`)
    }
    expect(w.calls()).toEqual([6])
    const closed = w.told.filter(({ type }) => type === 'provider.circuit_closed')
    expect(closed).toEqual([
      {
        type: 'provider.circuit_closed',
        data: { provider: 'p', account_id: expect.any(String), occurred_at: expect.any(String), open_for_ms: 30_000 },
      },
    ])
    expect(await w.states()).toMatchObject([{ breaker: 'closed', status: 'active', consecutive_failures: 0 }])
    expect(await w.status()).toBe(200)
  })

  it('stays out twice as long after a failed probe, up to five minutes, and it is still one opening', async () => {
    await open({ accounts: [{ script: [fail(500)] }] })
    await times(5, () => w.status())
    const waits: number[] = []
    for (let round = 0; round < 6; round++) {
      const { headers } = await w.chat()
      const wait = Number(headers.get('retry-after'))
      waits.push(wait)
      await w.clock.advance(wait * 1000 - 1)
      const before = w.calls()[0]
      await w.status()
      expect(w.calls()[0], 'not before its time').toBe(before)
      await w.clock.advance(1)
      expect(await w.status()).toBe(500)
    }
    expect(waits).toEqual([30, 60, 120, 240, 300, 300])
    expect(w.types().filter((type) => type === 'provider.circuit_opened')).toHaveLength(1)
    w.accounts[0]?.script(text('ok'))
    await w.clock.advance('5m')
    expect(await w.status()).toBe(200)
    expect(w.told.at(-1)).toMatchObject({ type: 'provider.circuit_closed', data: { open_for_ms: 1_350_000 } })
  })

  it('counts in a row only: one success starts anew, a 4xx and a 429 neither count nor start anew', async () => {
    await open({ accounts: [{ script: [fail(500), fail(500), fail(500), fail(500), text('ok'), fail(500)] }] })
    await times(9, () => w.status())
    expect(w.types()).not.toContain('provider.circuit_opened')
    w.accounts[0]?.script(fail(400), fail(429, { headers: { 'retry-after': '1' } }), fail(500))
    await w.status()
    await w.status()
    await w.clock.advance('1s')
    expect(await w.status()).toBe(500)
    expect(w.types().filter((type) => type === 'provider.circuit_opened')).toHaveLength(1)
  })

  it('counts broken connections and streams that break after their start, and not what callers leave', async () => {
    const breaks = broken({ text: 'half of it' }, 3)
    await open({ accounts: [{ script: [reset(), breaks, breaks, breaks] }] })
    expect(await w.status()).toBe(502)
    await times(3, () => w.status('m', { stream: true }))
    expect(await w.states()).toMatchObject([{ consecutive_failures: 4, breaker: 'closed' }])
    w.accounts[0]?.script(hang())
    const gone = new AbortController()
    const server = await w.t.listen()
    const leaving = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      signal: gone.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: 'hi' }] }),
    }).catch(() => null)
    await until(() => w.calls()[0] === 5)
    expect(await w.states()).toMatchObject([{ inflight: 1 }])
    gone.abort()
    await leaving
    await w.t.untilSettled(5)
    expect(await w.states()).toMatchObject([{ consecutive_failures: 4, breaker: 'closed', inflight: 0 }])
    w.accounts[0]?.script(breaks)
    await w.status('m', { stream: true })
    expect(await w.states()).toMatchObject([{ consecutive_failures: 5, breaker: 'open' }])
  })

  it('a probe that tells nothing leaves the way free for the next one', async () => {
    await open({ accounts: [{ script: [...Array(5).fill(fail(500)), fail(400), text('ok')] }] })
    await times(5, () => w.status())
    await w.clock.advance('30s')
    expect(await w.status()).toBe(400)
    expect(await w.states()).toMatchObject([{ breaker: 'half_open' }])
    expect(await w.status()).toBe(200)
    expect(await w.states()).toMatchObject([{ breaker: 'closed' }])
  })

  it('follows the settings', async () => {
    const settings = { breaker: { failure_threshold: 2, cooldown_secs: 5, max_cooldown_secs: 7 } }
    await open({ accounts: [{ script: [fail(503)] }], config: { settings } })
    await times(2, () => w.status())
    expect((await w.chat()).headers.get('retry-after')).toBe('5')
    await w.clock.advance('5s')
    await w.status()
    expect((await w.chat()).headers.get('retry-after')).toBe('7')
  })

  it('another account answers meanwhile, and the timeline says why', async () => {
    await open({ accounts: [{ script: [fail(500)] }, { script: [text('the other')] }] })
    await times(6, async () => expect(await w.status()).toBe(200))
    expect(w.calls()).toEqual([5, 6])
    expect(w.attempts().map(({ action, skipped }) => [action, skipped?.reason])).toEqual([
      ['skipped', 'circuit_open'],
      ['returned', undefined],
    ])
    expect(w.attempts()[0]?.skipped?.until).toBe(w.clock.now() + 30_000)
  })
})

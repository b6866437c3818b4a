// A failing filter: its effect on requests, when it is switched off, and what happens to its variables.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/index.ts'
import type { FailureReason } from '../../../plugins/wasm-filters/failure.ts'
import { type Filter, openFilter } from '../../../plugins/wasm-filters/filter.ts'
import type { Timeouts } from '../../../plugins/wasm-filters/limits.ts'
import { ask } from '../../adapters/node/support.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type Body, guest, HUGE_OUTPUT, LOOP, says, TRAP, when } from './guests.ts'
import { AMPLE, type Filtered, filteredOnes } from './support.ts'

const filtered = filteredOnes()

const status = async ({ t }: Filtered, text: string): Promise<number> => {
  const { path, body } = ask('chat', 'echo/echo-1', { text })
  return (await t.post(path, body)).status
}
const evil = (body: Body) => guest({ exports: { on_request: when('evil', body) } })

describe('a failure', () => {
  it('refuses the request: 503 that names the filter', async () => {
    const { t } = await filtered([await evil(TRAP)], { echo: true })
    const { path, body } = ask('chat', 'echo/echo-1', { text: 'evil' })
    const response = await t.post(path, body)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      error: { code: 'plugin_failed', message: expect.stringMatching(/`test-guest` failed \(trap\)/) },
    })
  })

  it('with GATEWAY_PLUGIN_FAIL_OPEN passes the filter over', async () => {
    const running = await filtered([await evil(TRAP)], { echo: true, failOpen: true })
    expect(await status(running, 'evil')).toBe(200)
    expect(await running.failures()).toEqual({ trap: 1 })
  })

  it('what the guest says went wrong is in the log, not in the answer', async () => {
    const said: Body = { texts: { why: 'the inner matter' }, code: '(call $error_set (call $block_why))' }
    const { t, log } = await filtered([await evil(said)], { echo: true })
    const { path, body } = ask('chat', 'echo/echo-1', { text: 'evil' })
    expect(await (await t.post(path, body)).text()).not.toContain('inner matter')
    expect(JSON.stringify(log.lines)).toContain('It says: the inner matter')
  })

  it('an input over 4 MiB is not sent', async () => {
    const running = await filtered([await evil(TRAP)], { echo: true })
    expect(await status(running, 'x'.repeat(5 << 20))).toBe(503)
    expect(await running.failures()).toEqual({ too_large: 1 })
  })
})

describe('three timeouts in a minute', () => {
  const options = { echo: true, timeouts: { request: 500 } }

  it('switch the filter off for a minute: closed, every request is refused; then it is back', async () => {
    const running = await filtered([await evil(LOOP)], options)
    for (let i = 0; i < 3; i++) expect(await status(running, 'evil')).toBe(503)
    expect(await status(running, 'good')).toBe(503)
    expect(await running.failures()).toEqual({ timeout: 3, off: 1 })
    await running.clock.advance('59s')
    expect(await status(running, 'good')).toBe(503)
    await running.clock.advance('1s')
    await running.clock.advance(1)
    expect(await status(running, 'good')).toBe(200)
  })

  it('open, requests go on without it', async () => {
    const running = await filtered([await evil(LOOP)], { ...options, failOpen: true })
    for (let i = 0; i < 4; i++) expect(await status(running, 'evil')).toBe(200)
    expect(await running.failures()).toEqual({ timeout: 3, off: 1 })
  })

  it('in more than a minute do not', async () => {
    const running = await filtered([await evil(LOOP)], options)
    for (let i = 0; i < 3; i++) {
      expect(await status(running, 'evil')).toBe(503)
      await running.clock.advance('31s')
    }
    expect(await running.failures()).toEqual({ timeout: 3 })
  })
})

describe('what a guest remembers', () => {
  const globals = '(global $live (mut i32) (i32.const 0))'

  it('on_end lets it forget: once for each request that it was asked about', async () => {
    const deny = says({ action: 'deny', status: 409, message: 'One too many.' })
    const on_request: Body = {
      ...deny,
      code: `(if (global.get $live) (then ${deny.code})) (global.set $live (i32.add (global.get $live) (i32.const 1)))`,
    }
    const on_end: Body = { code: '(global.set $live (i32.sub (global.get $live) (i32.const 1)))' }
    const running = await filtered([await guest({ exports: { on_request, on_end }, more: globals })], { echo: true })
    for (let i = 1; i <= 6; i++) {
      expect(await status(running, 'Hi'), `request ${i}`).toBe(200)
      await running.t.untilSettled(i)
    }
  })

  async function opened(exports: Record<string, Body>, limits: Partial<Timeouts> = {}) {
    const failures: FailureReason[] = []
    const filter = await openFilter({
      file: 'test.wasm',
      module: await guest({ exports, more: globals }),
      config: {},
      timeouts: { ...AMPLE, ...limits },
      clock: fakeClock(),
      log: recordingLog(),
      failed: (reason) => void failures.push(reason),
    })
    return { filter, failures }
  }
  const chunk = (filter: Filter, seat: ReturnType<Filter['seat']>, text: string) => filter.onChunk(seat, { text })

  it('is gone with its guest: a filter with on_end is told of no stream that it has forgotten', async () => {
    const { filter } = await opened({ on_chunk: when('evil', TRAP), on_end: { code: '' } })
    const seat = filter.seat()
    await chunk(filter, seat, 'good')
    await expect(chunk(filter, seat, 'evil')).rejects.toMatchObject({ reason: 'trap' })
    await expect(chunk(filter, seat, 'good')).rejects.toMatchObject({ reason: 'state_lost' })
    await expect(chunk(filter, filter.seat(), 'good')).resolves.toEqual({ action: 'continue' })
    await filter.close()
  })

  it('a call that waited while its guest was ended is not given to the next one', async () => {
    const { filter } = await opened({ on_chunk: when('evil', LOOP), on_end: { code: '' } }, { chunk: 500 })
    const [known, other] = [filter.seat(), filter.seat()]
    await chunk(filter, known, 'good')
    const loop = expect(chunk(filter, other, 'evil')).rejects.toMatchObject({ reason: 'timeout' })
    await expect(chunk(filter, known, 'good')).rejects.toMatchObject({ reason: 'state_lost' })
    await loop
    await filter.close()
  })

  it('a request of which only the next guest has heard stays with that', async () => {
    const { filter, failures } = await opened({ on_chunk: when('evil', LOOP), on_end: { code: '' } }, { chunk: 500 })
    const [fresh, other] = [filter.seat(), filter.seat()]
    const loop = expect(chunk(filter, other, 'evil')).rejects.toMatchObject({ reason: 'timeout' })
    for (let i = 0; i < 2; i++) await expect(chunk(filter, fresh, 'good')).resolves.toEqual({ action: 'continue' })
    await loop
    expect(failures).toEqual(['timeout'])
    await filter.close()
  })

  it('an output that is too large ends no guest in the middle of its work', async () => {
    const busy: Body = {
      ...when('evil', HUGE_OUTPUT),
      code: `(if (global.get $live) (then unreachable)) (global.set $live (i32.const 1))
        ${when('evil', HUGE_OUTPUT).code} (global.set $live (i32.const 0))`,
    }
    const { filter, failures } = await opened({ on_chunk: busy, on_end: { code: '' } })
    const seat = filter.seat()
    await expect(chunk(filter, seat, 'evil')).rejects.toMatchObject({ reason: 'too_large' })
    await expect(chunk(filter, seat, 'good')).resolves.toEqual({ action: 'continue' })
    expect(failures).toEqual(['too_large'])
    await filter.close()
  })

  it('one without on_end has nothing to forget and goes on', async () => {
    const { filter, failures } = await opened({ on_chunk: when('evil', LOOP) }, { chunk: 500 })
    const seat = filter.seat()
    await expect(chunk(filter, seat, 'evil')).rejects.toMatchObject({ reason: 'timeout' })
    await expect(chunk(filter, seat, 'good')).resolves.toEqual({ action: 'continue' })
    expect(failures).toEqual(['timeout'])
    await filter.close()
  })

  it('calls that wait longer than they may are given up, and those behind a loop get another thread', async () => {
    const { filter } = await opened({ on_chunk: when('evil', LOOP) }, { chunk: 3000, queue: 1000 })
    const seat = filter.seat()
    const loop = chunk(filter, seat, 'evil')
    await expect(chunk(filter, seat, 'good')).rejects.toMatchObject({ reason: 'busy' })
    await expect(loop).rejects.toMatchObject({ reason: 'timeout' })
    await filter.close()
  })

  it('after the end nothing is asked', async () => {
    const { filter } = await opened({ on_chunk: says('') })
    await filter.close()
    await expect(chunk(filter, filter.seat(), 'x')).rejects.toMatchObject({ name: 'FilterFailure' })
  })
})

// The time limit measures the guest's own time: waiting for its thread and delays of the gateway's event loop do not count.
import { afterEach, describe, expect, it } from 'vitest'
import { sharedTime } from '../../../plugins/wasm-filters/protocol.ts'
import { Sandbox, type SandboxTime } from '../../../plugins/wasm-filters/sandbox.ts'
import { guest, LOOP, says, when } from './guests.ts'

const LIMIT = 50
const open: Sandbox[] = []
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close()
})

/** Timers fire when the test says so. */
function manual() {
  const timers = new Set<{ ms: number; fn: () => void }>()
  const time: SandboxTime = {
    now: sharedTime,
    timer(ms, fn) {
      const timer = { ms, fn }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
  }
  /** Those that watch a call. */
  const fire = (): number => {
    const due = [...timers].filter(({ ms }) => ms <= LIMIT)
    for (const timer of due) {
      timers.delete(timer)
      timer.fn()
    }
    return due.length
  }
  return { time, fire }
}

async function sandboxed(time: SandboxTime): Promise<Sandbox> {
  const module = await guest({ exports: { on_request: when('evil', LOOP), on_chunk: says({ action: 'continue' }) } })
  const sandbox = new Sandbox({ wasm: Uint8Array.from(module), config: {}, initMs: 20_000, queueMs: 20_000, time })
  open.push(sandbox)
  await sandbox.open()
  return sandbox
}

const call = (sandbox: Sandbox, name: string, input: string) => sandbox.call({ name, input, now: 0 }, LIMIT)

/** Nothing is heard on this thread meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('a call', () => {
  it('that was answered while the loop was busy is not ended by a timer that comes first', async () => {
    const { time, fire } = manual()
    const sandbox = await sandboxed(time)
    const reply = call(sandbox, 'on_chunk', 'good')
    block(4 * LIMIT)
    expect(fire()).toBe(1)
    expect((await reply).output).toBe('{"action":"continue"}')
    expect(sandbox.generation).toBe(0)
  })

  it('that is not begun yet is not ended either', async () => {
    const { time, fire } = manual()
    const sandbox = await sandboxed(time)
    const reply = call(sandbox, 'on_chunk', 'good')
    for (let i = 0; i < 3; i++) expect(fire()).toBe(1)
    expect((await reply).output).toBe('{"action":"continue"}')
  })

  it('that runs on is ended, and those that waited behind it are answered by another thread', async () => {
    const { time, fire } = manual()
    const sandbox = await sandboxed(time)
    const bad = call(sandbox, 'on_request', 'evil')
    const good = [call(sandbox, 'on_chunk', 'one'), call(sandbox, 'on_chunk', 'two')]
    expect(sandbox.pending).toBe(3)
    block(4 * LIMIT)
    fire()
    const ended = expect(bad).rejects.toMatchObject({ reason: 'timeout' })
    // Where the thread was slow to begin, it has its time still.
    const until = setInterval(fire, LIMIT)
    await ended
    clearInterval(until)
    expect(await Promise.all(good.map(async (one) => (await one).failure))).toEqual([null, null])
    expect(sandbox.generation).toBe(1)
  })

  it('is refused when 256 wait', async () => {
    const { time } = manual()
    const sandbox = await sandboxed(time)
    const bad = call(sandbox, 'on_request', 'evil')
    const waiting = Array.from({ length: 256 }, () => call(sandbox, 'on_chunk', 'x'))
    await expect(call(sandbox, 'on_chunk', 'x')).rejects.toMatchObject({ reason: 'busy' })
    const all = Promise.allSettled([bad, ...waiting])
    await sandbox.close()
    expect((await all).every(({ status }) => status === 'rejected')).toBe(true)
  })
})

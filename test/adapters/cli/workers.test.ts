// `hookgate serve --workers`: arguments, how dead workers are replaced, and a run of two real workers on one address.
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WrongUsage } from '../../../adapters/cli/fail.ts'
import { workerCount } from '../../../adapters/cli/workers/count.ts'
import { restarts } from '../../../adapters/cli/workers/restarts.ts'
import { ask, eventually, post } from '../node/support.ts'
import { folder, hookgate, type Serving, serving } from './hookgate.ts'

describe('the number of workers', () => {
  it('is a whole number from 1 to 64, or `auto`; unset is one', () => {
    expect([undefined, '', ' ', '1', ' 4 ', '64'].map((text) => workerCount(text, '--workers'))).toEqual([1, 1, 1, 1, 4, 64])
    expect(workerCount('auto', '--workers')).toBe(Math.min(64, availableParallelism()))
  })

  it('refuses anything else and names where it came from', () => {
    for (const text of ['0', '65', '-1', '2.5', 'all', '1e1', '0x2'])
      expect(() => workerCount(text, 'GATEWAY_WORKERS'), text).toThrow(WrongUsage)
    expect(() => workerCount('many', '--workers')).toThrow('--workers: `many` is neither `auto` nor a whole number from 1 to 64.')
  })
})

describe('a worker that died', () => {
  it('is replaced at once, and later each time when its followers die at once, too', () => {
    const { after: wait } = restarts()
    expect([1, 1, 1, 1, 1].map(wait)).toEqual([0, 100, 200, 400, 800])
    for (let i = 0; i < 20; i++) wait(1)
    expect(wait(1)).toBe(30_000)
    expect(wait(31_000)).toBe(0)
    expect(wait(1)).toBe(100)
  })
})

describe('two workers on one address', () => {
  let server: Serving
  const cwd = folder({})
  // A busy machine must not shed what the test counts.
  const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0' }
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } })).text()
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  /** Each on a connection of its own, so that the workers take turns. */
  const chat = (key?: string) =>
    post(server.url, ask('chat', 'echo/echo-1'), {
      headers: { connection: 'close', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    })
  const workers = (): number[] =>
    execFileSync('ps', ['-o', 'pid=', '--ppid', String(server.child.pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
      .map(Number)

  beforeAll(async () => {
    server = await serving(['--workers', '2', '--log', 'json'], { cwd, env })
    await eventually(async () => (await metric('gateway_workers')) === 2)
  }, 120_000)
  afterAll(() => void server.child.kill('SIGKILL'))

  it('count and limit together, show each event once, and replace one that died', { timeout: 60_000 }, async () => {
    const made = await fetch(`${server.url}/api/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'limited', rate_limit_rpm: 7 }),
    })
    const { key } = (await made.json()) as { key: string }
    await eventually(async () => {
      const asked = await Promise.all(
        [1, 2, 3, 4].map(() =>
          fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}`, connection: 'close' } }),
        ),
      )
      return asked.every(({ status }) => status === 200)
    })
    const stream = await fetch(`${server.url}/api/events`)
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    let events = ''
    void (async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) events += new TextDecoder().decode(part.value)
    })().catch(() => {})
    await eventually(async () => events.includes('hello'))
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat(key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13)
    await eventually(async () => events.split('event: request').length - 1 === 20)
    const ids = [...events.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(ids.map((_, at) => (ids[0] as number) + at))
    expect(await metric('gateway_request_duration_seconds_count')).toBeGreaterThan(0)
    await reader.cancel()

    const [first, second] = workers()
    process.kill(first as number, 'SIGKILL')
    await eventually(async () => !workers().includes(first as number) && (await metric('gateway_workers')) === 2)
    expect(workers()).toContain(second)
    expect((await chat()).status).toBe(200)

    // With none alive, the port of `--port 0` is still the one that was printed.
    const all = workers()
    for (const pid of all) process.kill(pid, 'SIGKILL')
    await eventually(
      async () => !workers().some((pid) => all.includes(pid)) && (await metric('gateway_workers').catch(() => 0)) === 2,
    )
    expect((await chat()).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.exited).toMatchObject({ code: 0, stdout: `hookgate listening on ${server.url}\n` })
    expect(server.stderr().split('"serve.draining"')).toHaveLength(2)
  })

  it('refuse a bad number, and a database in memory', { timeout: 60_000 }, async () => {
    const bad = await hookgate(['serve', '--workers', 'many'], { cwd, env })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('--workers')
    const memory = await hookgate(['serve', '--port', '0', '--workers', '2'], {
      cwd,
      env: { ...env, GATEWAY_DATABASE_URL: 'sqlite::memory:' },
    })
    expect(memory.code).toBe(1)
    expect(memory.stderr).toContain('GATEWAY_WORKERS')
  })
})

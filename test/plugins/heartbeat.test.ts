// `stream_heartbeat_ms`: at run time, and with precedence over the variable of that name.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, type TestGateway } from '../../adapters/testing/index.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import { preset } from '../../plugins/preset.ts'
import { memoryTransport } from '../pipeline/support/memory-transport.ts'
import { pathAndBody } from '../pipeline/support/wire.ts'

let t: TestGateway
let clock: FakeClock
let transport: ReturnType<typeof memoryTransport>
/** The text that the client of the quiet stream has read. */
let text: string
afterEach(() => t.close())

/** With an open stream whose upstream has not answered. */
async function start(env: Record<string, string> = {}): Promise<void> {
  clock = fakeClock()
  transport = memoryTransport(() => {})
  t = await createTestGateway({ ports: { clock, transport }, env })
  await open()
}

async function open(): Promise<void> {
  text = ''
  const { path, body } = pathAndBody('chat', 'chat/m', true)
  void t.post(path, body).then(async (response) => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString()
  })
  await expect.poll(() => transport.sent.length, { interval: 1 }).toBe(1)
}

/** Returns the number of further pings after `time`. */
async function pings(time: string): Promise<number> {
  const before = text.length
  await clock.advance(time)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return text.slice(before).split(': ping\n\n').length - 1
}

const reload = (plugins: Plugin[]) => t.gateway.reload({ options: { streamHeartbeatMs: 500 }, plugins })

async function put(value: unknown): Promise<{ status: number; answer: Record<string, unknown> }> {
  const init = { method: 'PUT', headers: { 'content-type': 'application/json' } }
  const response = await t.fetch('/api/settings', { ...init, body: JSON.stringify({ stream_heartbeat_ms: value }) })
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
}

it('is 15 s; open streams follow the setting, 0 is none, and null gives the default back', async () => {
  await start()
  expect(await pings('16s')).toBe(1)
  expect((await put(2000)).status).toBe(200)
  expect(await pings('9s')).toBe(5)
  expect((await put(0)).status).toBe(200)
  expect(await pings('60s')).toBe(0)
  expect((await put(null)).answer.stream_heartbeat_ms).toBe(15_000)
  expect(await pings('1s')).toBe(1)
  expect(await pings('13s')).toBe(0)
})

it('has the variable below it', async () => {
  await start({ STREAM_HEARTBEAT_MS: '4000' })
  expect(((await (await t.fetch('/api/settings')).json()) as Record<string, unknown>).stream_heartbeat_ms).toBe(4000)
  expect(await pings('5s')).toBe(1)
})

it('outlives reloads, also those that fail, and its plugin while a stream of before is open', async () => {
  await start()
  await put(1000)
  expect(await pings('3s')).toBe(3)
  await reload(preset())
  expect(await pings('3s')).toBe(3)
  await reload(preset({ heartbeat: false }))
  expect(await pings('3s')).toBe(3)
  await reload(preset())
  expect(await pings('3s')).toBe(3)
  await expect(reload([...preset(), ...preset()])).rejects.toThrow()
  expect(await pings('3s')).toBe(3)
})

it.each([-1, 1.5, '2000', true])('%j is 400 and named', async (value) => {
  await start()
  expect(await put(value)).toMatchObject({ status: 400, answer: { error: { param: 'stream_heartbeat_ms' } } })
})

// Facts of each attempt in the log: first content, waits, wire format, lane and cause; also of rows of earlier versions.
import { afterEach, expect, it } from 'vitest'
import { fail, reset, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { ask, detail } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

async function attemptsOf(body: Record<string, unknown>, path = '/v1/chat/completions') {
  const response = await t.post(path, body)
  await response.text()
  await t.untilCommitted()
  const id = response.headers.get('x-gateway-request-id') as string
  return (await detail(t, id)).attempts
}

it('a whole answer in bytes, a stream with its first content, and an answer in another dialect', async () => {
  t = await createTestGateway({ upstream: [text('one'), text('two'), text('three')] })
  expect(await attemptsOf(ask('chat/m'))).toMatchObject([
    { action: 'returned', ttft_ms: null, waited_ms: null, wire_format: 'chat', lane: 'bytes', cause: null },
  ])
  const [stream] = await attemptsOf(ask('chat/m', { stream: true }))
  expect(stream).toMatchObject({ wire_format: 'chat', lane: 'bytes' })
  expect(stream?.ttft_ms).toBe(stream?.latency_ms)
  expect(await attemptsOf(ask('messages/m'))).toMatchObject([{ wire_format: 'messages', lane: 'events' }])
})

it('the cause of each failure', async () => {
  t = await createTestGateway({ upstream: [fail(500), reset(), reset()] })
  expect((await attemptsOf(ask('chat/m')))[0]).toMatchObject({ cause: 'status', wire_format: 'chat', ttft_ms: null })
  expect((await attemptsOf(ask('chat/m')))[0]).toMatchObject({ cause: 'reset', lane: 'bytes' })
})

it('a provider without an upstream has no lane', async () => {
  t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
  expect(await attemptsOf(ask('echo/echo-1'))).toMatchObject([{ lane: null }])
})

it('rows of earlier versions show nothing of it', async () => {
  t = await createTestGateway({ upstream: [text('one')] })
  await attemptsOf(ask('chat/m'))
  await t.gateway.db?.run(sql`UPDATE request_log SET attempts_json = '[1700000000000,12,200]'`)
  const { data } = (await (await t.fetch('/api/logs')).json()) as { data: { request_id: string }[] }
  expect((await detail(t, data[0]?.request_id as string)).attempts).toMatchObject([
    { latency_ms: 12, ttft_ms: null, wire_format: null, lane: null },
  ])
})

// Thoughts with tool calls are sent back with them, although the caller left them out.
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import {
  createTestGateway,
  fakeClock,
  reply,
  type TestGateway,
  type TestGatewayOptions,
  text,
} from '../../../adapters/testing/index.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { toolTurn } from '../../support/tool-history.ts'
import { type Asking, CALLERS, called, replayed, switched, THOUGHT } from './support.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function gateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const t = await createTestGateway({ ...options, env: { REASONING_REPLAY: 'true', ...options.env } })
  open.push(t)
  return t
}

describe.each(CALLERS)('a %s caller that sends back nothing but the calls', (caller) => {
  it.each([false, true])('has the thought put back for a chat upstream (stream: %s)', async (stream) => {
    const t = await gateway()
    const calls = await called(t, caller, { stream })
    expect(calls).toHaveLength(1)
    expect(await replayed(t, caller, calls)).toMatchObject({ reasoning_content: THOUGHT, tool_calls: [{ id: 'call_rome' }] })
  })

  it.each([false, true])('has the signed thought put back for a messages upstream (stream: %s)', async (stream) => {
    const t = await gateway()
    const model = 'messages/claude-sonnet-4-5'
    const calls = await called(t, caller, { model, stream })
    const { content } = await replayed(t, caller, calls, { model })
    expect(content).toMatchObject([
      { type: 'thinking', thinking: THOUGHT, signature: 'EqQBsigned' },
      { type: 'tool_use', name: 'weather' },
    ])
  })
})

it('a thought the caller sends is never replaced', async () => {
  const t = await gateway()
  const calls = await called(t, 'chat')
  const { path, body } = toolTurn('chat', 'chat/kimi', { calls })
  Object.assign((body.messages as object[])[1]!, { reasoning_content: 'my own' })
  t.upstream.script(text('done'))
  await (await t.post(path, body)).text()
  expect(t.upstream.requests.at(-1)!.text).not.toContain(THOUGHT)
})

describe('a thought is kept', () => {
  it('for the key that got it: not for another one, nor for nobody', async () => {
    const t = await gateway()
    const key = async (label: string): Promise<Asking> => {
      const made = (await (await t.post('/api/keys', { label })).json()) as { key: string }
      return { headers: { authorization: `Bearer ${made.key}` } }
    }
    const [one, two] = [await key('one'), await key('two')]
    const calls = await called(t, 'chat', one)
    expect(await replayed(t, 'chat', calls, two)).not.toHaveProperty('reasoning_content')
    expect(await replayed(t, 'chat', calls)).not.toHaveProperty('reasoning_content')
    expect(await replayed(t, 'chat', calls, one)).toHaveProperty('reasoning_content', THOUGHT)
  })

  it('for the model that had it', async () => {
    const t = await gateway()
    const calls = await called(t, 'chat')
    expect(await replayed(t, 'chat', calls, { model: 'chat/glm' })).not.toHaveProperty('reasoning_content')
  })

  it('for its own call: one with the same id and other arguments has another thought', async () => {
    const t = await gateway()
    const [call] = await called(t, 'chat')
    const other = { ...call!, args: '{"city":"Oslo"}' }
    expect(await replayed(t, 'chat', [other])).not.toHaveProperty('reasoning_content')
    const rewritten = { ...call!, args: '{"city":"Rome"}' }
    expect(await replayed(t, 'chat', [rewritten])).toHaveProperty('reasoning_content', THOUGHT)
  })

  it('for two hours', async () => {
    const clock = fakeClock()
    const t = await gateway({ ports: { clock } })
    const calls = await called(t, 'chat')
    await clock.advance('119m')
    expect(await replayed(t, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
    await clock.advance('2m')
    expect(await replayed(t, 'chat', calls)).not.toHaveProperty('reasoning_content')
  })

  it('up to 64 KiB', async () => {
    const t = await gateway()
    const long = reply({
      reasoning: { text: 'x'.repeat(70_000) },
      toolCalls: [{ id: 'call_rome', name: 'weather', args: '{}' }],
    })
    t.upstream.script(long)
    const { path, body } = toolTurn('chat', 'chat/kimi')
    await (await t.post(path, body)).text()
    expect(await replayed(t, 'chat', [{ id: 'call_rome', name: 'weather', args: '{}' }])).not.toHaveProperty('reasoning_content')
  })
})

it('a thought is in no log line and readable in no table', async () => {
  const log = recordingLog()
  const db = await openDatabase('sqlite::memory:', '.')
  const t = await gateway({ ports: { log, db } })
  const calls = await called(t, 'chat')
  expect(await replayed(t, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
  await t.untilSettled(2)
  await t.close()
  const all = (text: string) => db.all<{ name: string }>({ text, params: [] })
  const tables = await all("SELECT name FROM sqlite_master WHERE type = 'table'")
  expect(tables.length).toBeGreaterThan(10)
  for (const { name } of tables) expect(JSON.stringify(await all(`SELECT * FROM "${name}"`)), name).not.toContain(THOUGHT)
  expect(JSON.stringify(log.lines)).not.toContain(THOUGHT)
  await db.close()
})

describe('switched off', () => {
  it('as it is by default, the body is the caller’s own', async () => {
    const t = await gateway({ env: { REASONING_REPLAY: 'false' } })
    const calls = await called(t, 'chat')
    const { path, body } = toolTurn('chat', 'chat/kimi', { calls })
    t.upstream.script(text('done'))
    await (await t.post(path, body)).text()
    expect(t.upstream.requests.at(-1)!.json).toEqual({ ...body, model: 'kimi' })
  })

  it('while running, what was kept is forgotten', async () => {
    const t = await gateway()
    const calls = await called(t, 'chat')
    await switched(t, false)
    expect(await replayed(t, 'chat', calls)).not.toHaveProperty('reasoning_content')
    await switched(t, true)
    expect(await replayed(t, 'chat', calls)).not.toHaveProperty('reasoning_content')
  })
})

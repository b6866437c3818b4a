// What stored responses promise over long conversations, several replicas, crashes and strangers. Each test prints its figures.
import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, stepCountIs, tool } from 'ai'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { choose, type RecordedRequest, reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { folder, type Serving, serving } from '../../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { REDIS_URL, whyNoRedis } from '../../support/redis.ts'
import { said, statefulResponses } from '../../support/stateful-responses.ts'
import { makeKey } from '../keys/support.ts'

let t: TestGateway | undefined
afterEach(async () => {
  await t?.close()
  t = undefined
})

interface Answer {
  id: string
  previous_response_id: string | null
  error?: { code: string; message: string }
}

async function send(gateway: TestGateway, body: object): Promise<Answer> {
  const response = await gateway.post('/v1/responses', body)
  const answer = (await response.json()) as Answer
  if (response.status !== 200) throw new Error(JSON.stringify(answer))
  await gateway.gateway.committed()
  return answer
}

const tools = {
  weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `25 degrees in ${city}` }),
}
/** Calls the tool for each question, then answers. */
function toolModel(): Step {
  return choose((request: RecordedRequest) => {
    const results = request.text.split('25 degrees in City').length - 1
    const asked = request.text.split('Question ').length - 1
    return results < asked
      ? reply({ toolCalls: [{ id: `call_${asked}`, name: 'weather', args: `{"city":"City ${asked}"}` }] })
      : reply({ text: `Reply to ${asked}.` })
  })
}

it.each([
  'chat',
  'messages',
  'generate_content',
  'responses',
])('the AI SDK as it comes has a session of 20 tool turns over %s, and each prompt begins with the one before', async (dialect) => {
  t = await createTestGateway({ upstream: [toolModel()] })
  const gateway = t
  const fetch: typeof globalThis.fetch = (url, init) => gateway.fetch(new URL(String(url)).pathname, init)
  const model = createOpenAI({ baseURL: 'http://127.0.0.1/v1', apiKey: 'none', fetch })(`${dialect}/m`)
  const messages: ModelMessage[] = []
  for (let turn = 1; turn <= 20; turn++) {
    messages.push({ role: 'user', content: `Question ${turn}` })
    const answer = await generateText({ model, messages, tools, stopWhen: stepCountIs(3), maxRetries: 0 })
    expect(answer.text).toBe(`Reply to ${turn}.`)
    messages.push(...answer.response.messages)
  }
  const prompts = gateway.upstream.requests.map(({ json }) => promptOf(json))
  expect(prompts).toHaveLength(40)
  const hash = (items: readonly unknown[]) => createHash('sha256').update(JSON.stringify(items)).digest('hex')
  for (const [index, prompt] of prompts.entries())
    if (index > 0)
      expect(hash(prompt.slice(0, prompts[index - 1]?.length)), `call ${index}`).toBe(hash(prompts[index - 1] as unknown[]))
  console.log(`${dialect}: 20 turns, 40 calls, the last prompt has ${prompts.at(-1)?.length} items`)
})

function promptOf(json: Record<string, unknown>): unknown[] {
  const items = (json.messages ?? json.input ?? json.contents) as Record<string, unknown>[]
  // An item that a caller writes may leave out its type; the gateway writes it.
  return json.input === undefined ? items : items.map((item) => ({ type: 'message', ...item }))
}

it('a turn costs the same at the end of a conversation of 1,000 turns, at an upstream that stores', async () => {
  const vendor = statefulResponses(() => [said('Short.')])
  t = await createTestGateway({ upstream: [vendor.step] })
  const spent: number[] = []
  let previous: string | undefined
  for (let turn = 0; turn < 1000; turn++) {
    const before = process.cpuUsage()
    const link = previous === undefined ? {} : { previous_response_id: previous }
    previous = (await send(t, { model: 'responses/m', input: `Question ${turn}`, ...link })).id
    const { user, system } = process.cpuUsage(before)
    spent.push((user + system) / 1000)
    // The fake upstream remembers every prompt.
    vendor.prompts.length = 0
  }
  const [start, end] = [median(spent.slice(50, 150)), median(spent.slice(-100))]
  console.log(`native: ${start.toFixed(2)} ms CPU at turn 100, ${end.toFixed(2)} ms at turn 1,000`)
  expect(end).toBeLessThan(start * 3 + 2)
})

it('a stored conversation of 1,000 turns costs about as much as one that the caller sends', async () => {
  t = await createTestGateway({ upstream: [reply({ text: 'Short.' })] })
  const gateway = t
  let previous: string | undefined
  const spent: number[] = []
  const cpu: number[] = []
  for (let turn = 0; turn < 1000; turn++) {
    const began = performance.now()
    const before = process.cpuUsage()
    const link = previous === undefined ? {} : { previous_response_id: previous }
    previous = (await send(gateway, { model: 'chat/m', input: `Question ${turn}`, ...link })).id
    spent.push(performance.now() - began)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1000)
  }
  const growth = [10, 100, 500, 1000].map((turn) => {
    const around = cpu.slice(Math.max(turn - 20, 0), turn)
    const kilobytes = (gateway.upstream.requests[turn - 1]?.text.length ?? 0) / 1000
    return { turn, kilobytes, ms: median(around) }
  })
  console.log(
    growth.map(({ turn, kilobytes, ms }) => `turn ${turn}: ${ms.toFixed(1)} ms CPU, ${kilobytes.toFixed(1)} KB sent`).join('\n'),
  )
  // A turn that sends more bytes may cost more CPU time. The price of a kilobyte must not rise with the length of the conversation.
  const [, hundred, middle, last] = growth as [Growth, Growth, Growth, Growth]
  const slope = (from: Growth, to: Growth) => (to.ms - from.ms) / (to.kilobytes - from.kilobytes)
  expect(slope(middle, last)).toBeLessThan(Math.max(slope(hundred, middle), 0.1) * 3)
  const input = Array.from({ length: 1000 }, (_, turn) => [
    { role: 'user', content: `Question ${turn}` },
    { role: 'assistant', content: 'Short.' },
  ]).flat()
  const whole: number[] = []
  for (let i = 0; i < 30; i++) {
    const began = performance.now()
    await send(gateway, { model: 'chat/m', input: [...input, { role: 'user', content: 'Last' }], store: false })
    whole.push(performance.now() - began)
  }
  const [start, end, sent] = [median(spent.slice(0, 50)), median(spent.slice(-30)), median(whole)]
  console.log(
    `translated: ${start.toFixed(1)} ms at the start, ${end.toFixed(1)} ms at turn 1,000; the caller sends all: ${sent.toFixed(1)} ms`,
  )
  expect(end).toBeLessThan(sent * 12 + 100)
})

it('an id of another key looks like one that is deleted, in body and time', async () => {
  t = await createTestGateway({ upstream: [reply({ text: 'One.' })] })
  const gateway = t
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const create = async (key: string) => {
    const response = await gateway.post('/v1/responses', { model: 'chat/m', input: 'Hi' }, { authorization: `Bearer ${key}` })
    return ((await response.json()) as Answer).id
  }
  const [foreign, deleted] = [await create(alice.key), await create(bob.key)]
  await t.gateway.committed()
  const headers = { authorization: `Bearer ${bob.key}` }
  await t.fetch(`/v1/responses/${deleted}`, { method: 'DELETE', headers })
  const times: Record<'foreign' | 'deleted', number[]> = { foreign: [], deleted: [] }
  const bodies = new Set<string>()
  for (let i = 0; i < 500; i++) {
    for (const [name, id] of i % 2 === 0 ? ENTRIES : [...ENTRIES].reverse()) {
      const asked = id === 'foreign' ? foreign : deleted
      const began = performance.now()
      const response = await t.fetch(`/v1/responses/${asked}`, { headers })
      const text = await response.text()
      times[name].push(performance.now() - began)
      bodies.add(`${response.status} ${text.replaceAll(asked, 'ID').replace(/req_[\w-]+/g, 'REQ')}`)
    }
  }
  expect([...bodies]).toHaveLength(1)
  const [a, b] = [median(times.foreign), median(times.deleted)]
  const noise = spread(times.foreign) + spread(times.deleted)
  console.log(`foreign ${a.toFixed(3)} ms, deleted ${b.toFixed(3)} ms, noise ${noise.toFixed(3)} ms`)
  expect(Math.abs(a - b)).toBeLessThan(noise)
})

const ENTRIES = [
  ['foreign', 'foreign'],
  ['deleted', 'deleted'],
] as const

it('kill -9 after the last byte: the response is there, or it is unknown', async () => {
  const cwd = folder({
    'gateway.config.mjs': `export default { connections: { echo: { provider: 'echo', defaultModel: 'echo-1' } } }`,
  })
  const env = { GATEWAY_DATA_DIR: `${cwd}/data` }
  const open = () => serving(['--config', `${cwd}/gateway.config.mjs`], { cwd, env })
  const figures = { found: 0, unknown: 0 }
  let server = await open()
  try {
    for (let cycle = 0; cycle < 6; cycle++) {
      const created = await postTo(server, { model: 'echo/echo-1', input: `Cycle ${cycle}` })
      server.child.kill('SIGKILL')
      await server.exited
      server = await open()
      const read = await fetch(`${server.url}/v1/responses/${created.id}`)
      const next = await postTo(server, { model: 'echo/echo-1', input: 'On', previous_response_id: created.id })
      if (read.status === 200) {
        expect(await read.json()).toEqual(created)
        expect(next.previous_response_id).toBe(created.id)
        figures.found++
      } else {
        expect([read.status, next.error?.code]).toEqual([404, 'previous_response_not_found'])
        figures.unknown++
      }
    }
  } finally {
    server.child.kill('SIGKILL')
    await server.exited
    rmSync(cwd, { recursive: true, force: true })
  }
  console.log(`kill -9 after the last byte: ${JSON.stringify(figures)}`)
})

async function postTo({ url }: Serving, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Answer
}

const missing = (await whyNoPostgres()) ?? (await whyNoRedis())
it.skipIf(missing !== null)(`two replicas answer alternate turns${missing === null ? '' : `: ${missing}`}`, async () => {
  const postgres = await testPostgres()
  const cwd = folder({
    'gateway.config.mjs': `export default { connections: { echo: { provider: 'echo', defaultModel: 'echo-1' } } }`,
  })
  const env = {
    GATEWAY_DATABASE_URL: postgres.url,
    REDIS_URL,
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    GATEWAY_ENV: `proofs-${process.pid}`,
  }
  const open = () => serving(['--config', `${cwd}/gateway.config.mjs`], { cwd, env })
  const first = await open()
  const servers = [first, await open()]
  try {
    let previous: string | undefined
    const times: number[] = []
    for (let turn = 0; turn < 20; turn++) {
      const link = previous === undefined ? {} : { previous_response_id: previous }
      const began = performance.now()
      const answer = await postTo(servers[turn % 2] as Serving, { model: 'echo/echo-1', input: `Turn ${turn}`, ...link })
      times.push(performance.now() - began)
      expect(answer.error ?? null, `turn ${turn}`).toBeNull()
      expect(answer.previous_response_id).toBe(previous ?? null)
      previous = answer.id
    }
    console.log(`two replicas: 20 alternate turns, median ${median(times).toFixed(1)} ms`)
  } finally {
    for (const { child, exited } of servers) {
      child.kill('SIGTERM')
      await exited
    }
    await postgres.drop()
    rmSync(cwd, { recursive: true, force: true })
  }
})

interface Growth {
  readonly turn: number
  readonly kilobytes: number
  readonly ms: number
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

/** Half of the values are this far apart. */
function spread(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[Math.floor(values.length * 0.75)] as number) - (sorted[Math.floor(values.length * 0.25)] as number)
}

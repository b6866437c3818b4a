// The signature of a tool call comes back although its caller left it out, and to nobody else.
import { afterEach, describe, expect, it } from 'vitest'
import {
  createTestGateway,
  fakeClock,
  reply,
  scriptedUpstream,
  type TestGateway,
  type TestGatewayOptions,
  text,
} from '../../../adapters/testing/index.ts'
import { wrapSignature } from '../../../core/models/signature.ts'
import { answerOf } from '../../support/dialects.ts'
import { type PlainCall, toolTurn } from '../../support/tool-history.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const SIGNATURE = 'c2lnbmVkIGJ5IGdlbWluaQ=='
/** What stands in for a signature that is not kept. */
const SENTINEL = 'skip_thought_signature_validator'
const MODEL = 'generate_content/gemini-3-flash'
const CALLERS = ['chat', 'messages', 'responses'] as const
const CALLS = [
  { id: 'fc_one', name: 'weather', args: '{"city":"Rome"}' },
  { id: 'fc_two', name: 'weather', args: '{"city":"Oslo"}' },
]
const SIGNED = reply({ reasoning: { text: '', signature: SIGNATURE }, toolCalls: CALLS })

async function gateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const t = await createTestGateway(options)
  open.push(t)
  return t
}

type Caller = (typeof CALLERS)[number]
interface Asking {
  model?: string
  stream?: boolean
  headers?: Record<string, string>
}

/** The first turn; the calls as the caller reads them. */
async function called(t: TestGateway, caller: Caller, { model = MODEL, stream = false, headers = {} }: Asking = {}) {
  t.upstream.script(SIGNED)
  const { path, body } = toolTurn(caller, model, { stream })
  const response = await t.post(path, body, headers)
  const answer = await response.text()
  expect(response.status, answer).toBe(200)
  const parts = answerOf(caller, answer, stream).choices.flatMap((choice) => choice.parts)
  return parts.flatMap((part): PlainCall[] => (part.t === 'tool_call' ? [part] : []))
}

/** The second turn; what its calls are signed with at the upstream. */
async function replayed(t: TestGateway, caller: Caller, calls: readonly PlainCall[], asking: Asking = {}): Promise<unknown[]> {
  const { path, body } = toolTurn(caller, asking.model ?? MODEL, { calls })
  return signaturesOf(t, path, body, asking.headers)
}

async function signaturesOf(t: TestGateway, path: string, body: unknown, headers: Record<string, string> = {}) {
  t.upstream.script(text('done'))
  const response = await t.post(path, body, headers)
  expect(response.status, await response.text()).toBe(200)
  const { contents } = t.upstream.requests.at(-1)!.json as { contents: { parts: Record<string, unknown>[] }[] }
  return contents.flatMap(({ parts }) => parts.filter((part) => 'functionCall' in part).map((part) => part.thoughtSignature))
}

describe.each(CALLERS)('a %s caller that sends back nothing but the calls', (caller) => {
  it.each([false, true])('has the signature put back, on the call that had it (stream: %s)', async (stream) => {
    const t = await gateway()
    const calls = await called(t, caller, { stream })
    expect(calls).toHaveLength(2)
    expect(await replayed(t, caller, calls)).toEqual([SIGNATURE, undefined])
  })
})

async function withKeys(): Promise<{ t: TestGateway; one: Asking; two: Asking }> {
  const t = await gateway()
  const key = async (name: string): Promise<Asking> => {
    const made = (await (await t.post('/api/keys', { label: name })).json()) as { key: string }
    return { headers: { authorization: `Bearer ${made.key}` } }
  }
  return { t, one: await key('one'), two: await key('two') }
}

describe('a signature is kept', () => {
  it('for the key that got it: not for another one, nor for nobody', async () => {
    const { t, one, two } = await withKeys()
    const calls = await called(t, 'chat', one)
    expect(await replayed(t, 'chat', calls, two)).toEqual([SENTINEL, undefined])
    expect(await replayed(t, 'chat', calls)).toEqual([SENTINEL, undefined])
    expect(await replayed(t, 'chat', calls, one)).toEqual([SIGNATURE, undefined])
  })

  it('for the model that made it', async () => {
    const t = await gateway()
    const calls = await called(t, 'chat')
    expect(await replayed(t, 'chat', calls, { model: 'generate_content/gemini-3-pro' })).toEqual([SENTINEL, undefined])
  })

  it('for the account that made it', async () => {
    const upstream = await scriptedUpstream()
    open.push(upstream)
    const at = { provider: 'custom', baseUrl: upstream.baseUrl('generate_content'), wireFormat: 'generate_content', apiKey: 'k' }
    const t = await gateway({ config: { connections: { first: at, second: at } as never } })
    const own = { ...t, upstream }
    const calls = await called(own, 'chat', { model: 'first/gemini-3-flash' })
    expect(await replayed(own, 'chat', calls, { model: 'second/gemini-3-flash' })).toEqual([SENTINEL, undefined])
    expect(await replayed(own, 'chat', calls, { model: 'first/gemini-3-flash' })).toEqual([SIGNATURE, undefined])
  })

  it('for an hour', async () => {
    const clock = fakeClock()
    const t = await gateway({ ports: { clock } })
    const calls = await called(t, 'chat')
    await clock.advance('59m')
    expect(await replayed(t, 'chat', calls)).toEqual([SIGNATURE, undefined])
    await clock.advance('2m')
    expect(await replayed(t, 'chat', calls)).toEqual([SENTINEL, undefined])
  })
})

it('a signature the caller sends is never replaced', async () => {
  const t = await gateway()
  const calls = await called(t, 'chat')
  const { path, body } = toolTurn('chat', MODEL, { calls })
  const own = wrapSignature({ dialect: 'generate_content', modelFamily: '', value: 'b3du' })
  const [, assistant] = body.messages as { tool_calls: object[] }[]
  Object.assign(assistant!.tool_calls[0]!, { extra_content: { google: { thought_signature: own } } })
  expect(await signaturesOf(t, path, body)).toEqual(['b3du', undefined])
})

it('a lost signature of a model that checks becomes the skip sentinel, a kept one does not', async () => {
  const upstream = await scriptedUpstream()
  open.push(upstream)
  const t = await gateway({
    config: { connections: { google: { provider: 'google', baseUrl: upstream.baseUrl('generate_content'), apiKey: 'k' } } },
  })
  const own = { ...t, upstream }
  const model = 'google/gemini-3-flash'
  const calls = await called(own, 'chat', { model })
  expect(await replayed(own, 'chat', calls, { model })).toEqual([SIGNATURE, undefined])
  const unknown = calls.map((call) => ({ ...call, id: `${call.id}_other` }))
  expect(await replayed(own, 'chat', unknown, { model })).toEqual([SENTINEL, undefined])
})

it('a call that fails over to another dialect has nothing put into it', async () => {
  const t = await gateway()
  const calls = await called(t, 'chat')
  t.upstream.script(text('done'))
  const { path, body } = toolTurn('chat', 'chat/m', { calls })
  expect((await t.post(path, body)).status).toBe(200)
  expect(t.upstream.requests.at(-1)!.text).not.toContain(SIGNATURE)
})

it('off, nothing is put back', async () => {
  const t = await gateway({ env: { GENCONTENT_SIGNATURE_CACHE: 'false' } })
  const calls = await called(t, 'chat')
  expect(await replayed(t, 'chat', calls)).toEqual([SENTINEL, undefined])
})

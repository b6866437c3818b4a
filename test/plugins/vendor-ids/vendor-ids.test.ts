// Ids of stored responses and conversations serve the key that created them and no other one, on one shared upstream account.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fakeClock, raw, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { type PresetOptions, preset } from '../../../plugins/preset.ts'

let t: TestGateway
let clock: ReturnType<typeof fakeClock>
afterEach(() => t.close())

const INPUT = { model: 'responses/m', input: 'Hello' }

async function start(env: Record<string, string> = { VENDOR_IDS: 'on' }, options: PresetOptions = {}) {
  clock = fakeClock()
  // Stored turns have ids of the gateway's own.
  t = await createTestGateway({
    env: { RESPONSES_STATE: 'false', ...env },
    config: { plugins: preset(options) },
    ports: { clock },
  })
  const key = async (label: string) => {
    const { key } = (await (await t.post('/api/keys', { label })).json()) as { key: string }
    return { authorization: `Bearer ${key}` }
  }
  return { alice: await key('alice'), bob: await key('bob') }
}

const ask = (headers: Record<string, string>, more: object = {}) => t.post('/v1/responses', { ...INPUT, ...more }, headers)

/** Creates a response and returns its id as the caller sees it. */
async function created(headers: Record<string, string>, stream: boolean): Promise<string> {
  t.upstream.script(text('Hi'))
  const answer = await ask(headers, { stream })
  expect(answer.status).toBe(200)
  return /"id":\s*"(resp_[^"]+)"/.exec(await answer.text())?.[1] as string
}

describe.each([false, true])('a response that one key created (stream: %s)', (stream) => {
  it('continues for this key, and does not exist for another one', async () => {
    const { alice, bob } = await start()
    const id = await created(alice, stream)
    const calls = t.upstream.requests.length
    const refused = await ask(bob, { previous_response_id: id })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: {
        message: `Previous response with id '${id}' not found.`,
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      },
    })
    expect(t.upstream.requests).toHaveLength(calls)
    t.upstream.script(text('Hi'))
    expect((await ask(alice, { previous_response_id: id, stream })).status).toBe(200)
  })
})

it('passes ids on that it did not see created', async () => {
  const { bob } = await start()
  t.upstream.script(text('Hi'))
  expect((await ask(bob, { previous_response_id: 'resp_made_elsewhere' })).status).toBe(200)
})

it.each([[{}], [{ VENDOR_IDS: 'off' }]])('lets any key continue a response with %j on the local profile', async (env) => {
  const { alice, bob } = await start(env)
  const id = await created(alice, false)
  t.upstream.script(text('Hi'))
  expect((await ask(bob, { previous_response_id: id })).status).toBe(200)
})

it('forgets an id after its time', async () => {
  const { alice, bob } = await start({}, { vendorIds: { enforce: 'on', ttlSecs: 60 } })
  const id = await created(alice, false)
  await clock.advance('59s')
  expect((await ask(bob, { previous_response_id: id })).status).toBe(400)
  await clock.advance('2s')
  t.upstream.script(text('Hi'))
  expect((await ask(bob, { previous_response_id: id })).status).toBe(200)
})

it('treats conversations alike, as an id and as an object', async () => {
  const { alice, bob } = await start()
  const answer = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', conversation: { id: 'conv_1' }, output: [] }
  t.upstream.script(raw(200, JSON.stringify(answer)))
  expect((await ask(alice)).status).toBe(200)
  for (const conversation of ['conv_1', { id: 'conv_1' }]) {
    const refused = await ask(bob, { conversation })
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { param: 'conversation', code: 'conversation_not_found' } })
    t.upstream.script(text('Hi'))
    expect((await ask(alice, { conversation })).status).toBe(200)
  }
})

it('finds the member however the JSON spells it, and judges by the owner alone', async () => {
  const { alice, bob } = await start()
  const id = await created(alice, false)
  const escaped = (word: string, at: number) =>
    `${word.slice(0, at)}\\u${word.charCodeAt(at).toString(16).padStart(4, '0')}${word.slice(at + 1)}`
  const member = 'previous_response_id'
  await fc.assert(
    fc.asyncProperty(fc.nat(member.length), fc.nat(id.length - 1), fc.boolean(), async (at, inId, own) => {
      const name = at === member.length ? member : escaped(member, at)
      const body = `{"input":"Hello", "${name}" : "${escaped(id, inId)}","model":"responses/m"}`
      if (own) t.upstream.script(text('Hi'))
      const answer = await t.fetch('/v1/responses', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...(own ? alice : bob) },
      })
      expect(answer.status).toBe(own ? 200 : 400)
    }),
    { numRuns: 60, seed: 7 },
  )
})

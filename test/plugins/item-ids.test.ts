// Reasoning is sent back without its id; when an upstream complains about ids, the request is sent once more with the opposite choice.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** `edits`: the request leaves the byte lane, as after any plugin's change. */
async function gateway(edits: boolean): Promise<TestGateway> {
  const editor = definePlugin({
    name: 'editor',
    setup: (gateway) => gateway.hook('request', (ctx) => void (edits && ctx.edit())),
  })
  const t = await createTestGateway({ plugins: [editor()] })
  open.push(t)
  return t
}

const SEALED = { type: 'reasoning', id: 'rs_abc', summary: [], encrypted_content: 'gAAAAsealed' }
const INPUT = [
  { role: 'user', content: 'look' },
  SEALED,
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'sky' },
]
const MISMATCH =
  'The encrypted content for item rs_abc could not be verified. Reason: Encrypted content item_id did not match the target item id.'
const NOT_FOUND = "Item with id 'rs_abc' not found. Items are not persisted when `store` is set to false."

async function ask(t: TestGateway, input: object[] = INPUT) {
  const response = await t.post('/v1/responses', { model: 'responses/gpt-5.6', input })
  await response.text()
  await t.untilSettled()
  return { response, actions: t.settled[0]!.ctx.attempts.map(({ status, action }) => [status, action]) }
}

const inputs = (t: TestGateway) => t.upstream.requests.map(({ json }) => json.input as Record<string, unknown>[])
const reasoning = (input: Record<string, unknown>[] | undefined) => input?.find(({ type }) => type === 'reasoning')

describe('an id that does not match', () => {
  it('is put back where it was left out', async () => {
    const t = await gateway(true)
    t.upstream.script(fail(400, { message: MISMATCH }), text('the sky'))
    const { response, actions } = await ask(t)
    expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([200, '2'])
    expect(actions).toEqual([
      [400, 'retried'],
      [200, 'returned'],
    ])
    const [first, second] = inputs(t)
    expect(reasoning(first)).not.toHaveProperty('id')
    expect(reasoning(second)).toEqual(SEALED)
  })

  it('is left out where it was sent', async () => {
    const t = await gateway(false)
    t.upstream.script(fail(400, { message: MISMATCH }), text('the sky'))
    expect((await ask(t)).response.status).toBe(200)
    const [first, second] = inputs(t)
    expect(first).toEqual(INPUT)
    expect(reasoning(second)).toEqual({ type: 'reasoning', summary: [], encrypted_content: 'gAAAAsealed' })
    expect(second?.[2]).toEqual(INPUT[2])
  })
})

describe('an id that is not found', () => {
  it.each([400, 404])('%i: all ids are left out, and reasoning that is nothing but its id', async (status) => {
    const t = await gateway(false)
    t.upstream.script(fail(status, { message: NOT_FOUND }), text('the sky'))
    const bare = { type: 'reasoning', id: 'rs_bare', summary: [] }
    expect((await ask(t, [bare, ...INPUT])).response.status).toBe(200)
    expect(inputs(t)[1]).toEqual(INPUT.map(({ id: _id, ...item }: { id?: string }) => item))
  })

  it('is tried once, and the caller gets the second answer', async () => {
    const t = await gateway(false)
    t.upstream.script(fail(400, { message: NOT_FOUND }), fail(400, { message: NOT_FOUND }), text('never'))
    const { response, actions } = await ask(t)
    expect(response.status).toBe(400)
    expect(actions).toHaveLength(2)
    expect(t.upstream.requests).toHaveLength(2)
  })
})

it.each([
  "The model 'gpt-9' was not found.",
  'Image not found.',
  'Invalid input.',
])('nothing is retried after: %s', async (message) => {
  const t = await gateway(false)
  t.upstream.script(fail(400, { message }), text('never'))
  expect((await ask(t)).response.status).toBe(400)
  expect(t.upstream.requests).toHaveLength(1)
})

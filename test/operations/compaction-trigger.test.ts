// `compaction_trigger` items of Codex: upstreams that do not know them never see them. The gateway answers with one compaction item.
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { connected } from '../support/own-connection.ts'

const FOREIGN = ['chat', 'messages', 'generate_content'] as const
const TRIGGER = { type: 'compaction_trigger' }
const HISTORY = [
  { role: 'user', content: 'Find the bug.' },
  { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"command":"ls"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'main.ts' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The bug is in main.ts.' }] },
]

let t: TestGateway
beforeEach(async () => {
  t = await createTestGateway()
})
afterEach(() => t.close())

interface Answer {
  status: string
  output: { type: string; id: string; encrypted_content: string }[]
}

async function triggered(model: string): Promise<Answer> {
  const response = await t.post('/v1/responses', { model, input: [...HISTORY, TRIGGER] })
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Answer
}

describe.each(FOREIGN)('on a %s upstream', (target) => {
  it('the answer is one compaction item, which later requests can use', async () => {
    const { output, status } = await triggered(`${target}/m`)
    expect(status).toBe('completed')
    expect(output).toMatchObject([{ type: 'compaction', id: expect.stringMatching(/^cmp_/) }])
    expect(output[0]?.encrypted_content).toMatch(/^gw1\./)
    expect(t.upstream.requests).toHaveLength(0)

    const input = [HISTORY[0], ...output, { role: 'user', content: 'Mend it.' }]
    expect((await t.post('/v1/responses', { model: `${target}/m`, input })).status).toBe(200)
    for (const text of ['main.ts', 'shell', 'Mend it.']) expect(t.upstream.requests[0]?.text).toContain(text)
  })

  it('a stream has the same item, in events that the openai SDK reads', async () => {
    const { port } = await t.listen()
    const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` })
    const stream = client.responses.stream({ model: `${target}/m`, input: [...HISTORY, TRIGGER] as never })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toContain('response.output_item.done')
    expect(types.at(-1)).toBe('response.completed')
    const { output } = await stream.finalResponse()
    expect(output.map(({ type }) => type)).toEqual(['compaction'])
  })

  it('refuses a compaction item of a vendor: its content would be lost', async () => {
    const input = [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'of a vendor' }, ...HISTORY, TRIGGER]
    const response = await t.post('/v1/responses', { model: `${target}/m`, input })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'input', code: 'unsupported_for_target' } })
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('costs nothing and leaves a row', async () => {
    await triggered(`${target}/m`)
    await t.untilSettled(1)
    const [{ outcome } = { outcome: null }] = t.settled
    expect(outcome).toMatchObject({ status: 200, steps: [], costNano: null, usage: { total: 0 } })
  })
})

it('a vendor of the responses dialect gets the trigger itself', async () => {
  expect((await t.post('/v1/responses', { model: 'responses/m', input: [...HISTORY, TRIGGER] })).status).toBe(200)
  expect(t.upstream.requests[0]?.text).toContain('compaction_trigger')
})

it('an item of another organization is refused', async () => {
  await t.close()
  const organizations = definePlugin({
    name: 'test-organizations',
    setup(gateway) {
      gateway.hook(
        'request',
        (ctx) => {
          ctx.principal = { ...ctx.principal, orgId: Number(ctx.headers.get('x-org')) }
        },
        { order: 'pre', before: 'compaction' },
      )
    },
  })
  t = await createTestGateway({ plugins: [organizations()] })
  for (const orgId of [1, 2]) await connected(t, orgId)
  const compact = (org: string, input: object[]) =>
    t.post('/v1/responses/compact', { model: 'chat/m', input, mode: 'heuristic' }, { 'x-org': org })
  const { output } = (await (await compact('1', HISTORY)).json()) as Answer
  expect((await compact('1', output)).status).toBe(200)
  const refused = await compact('2', output)
  expect({ status: refused.status, text: await refused.text() }).toMatchObject({ status: 400 })
  expect((await t.post('/v1/responses', { model: 'chat/m', input: output }, { 'x-org': '2' })).status).toBe(400)
  expect(t.upstream.requests).toHaveLength(0)
})

it('personal data is redacted before it is sealed', async () => {
  const guard = (enabled: boolean) =>
    t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ guardrails: { enabled, pii: { mode: 'redact' } } }),
    })
  const input = [{ role: 'assistant', content: 'Write to ada@example.com, then stop.' }, TRIGGER]
  expect((await guard(true)).status).toBe(200)
  const { output } = (await (await t.post('/v1/responses', { model: 'chat/m', input })).json()) as Answer
  await guard(false)
  await t.post('/v1/responses', { model: 'chat/m', input: [...output, { role: 'user', content: 'Say it.' }] })
  const sent = t.upstream.requests[0]?.text
  expect(sent).toContain('then stop.')
  expect(sent).not.toContain('ada@example.com')
})

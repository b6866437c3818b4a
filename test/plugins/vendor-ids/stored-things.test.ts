// Items, containers and files that a vendor's tools made for one key are unknown to other keys, on one shared upstream account.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, raw, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { preset } from '../../../plugins/preset.ts'

let t: TestGateway
afterEach(() => t.close())

async function start(env: Record<string, string> = { VENDOR_IDS: 'on' }) {
  t = await createTestGateway({ env: { RESPONSES_STATE: 'false', ...env }, config: { plugins: preset() } })
  const key = async (label: string) => {
    const { key } = (await (await t.post('/api/keys', { label })).json()) as { key: string }
    return { authorization: `Bearer ${key}` }
  }
  return { alice: await key('alice'), bob: await key('bob') }
}

const CITED = {
  type: 'container_file_citation',
  container_id: 'cntr_1',
  file_id: 'cfile_1',
  filename: 'a',
  start_index: 0,
  end_index: 1,
}
const ITEMS = [
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
  { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1', outputs: [], status: 'completed' },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}', status: 'completed' },
  {
    ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: 'hi', annotations: [CITED] }],
  },
]
const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: ITEMS }
const sse = (events: readonly object[]) =>
  events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  container: { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' },
  content: [
    {
      ...{ type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1' },
      content: {
        ...{ type: 'bash_code_execution_result', stdout: '', stderr: '', return_code: 0 },
        content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
      },
    },
    { type: 'text', text: 'hi' },
  ],
  usage: { input_tokens: 5, output_tokens: 2 },
}
const { content: _content, ...HEAD } = ANSWER
const STREAMED = sse([
  { type: 'message_start', message: { ...HEAD, content: [], stop_reason: null } },
  ...ANSWER.content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'end_turn', container: ANSWER.container }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
])

const said = (content: object[]) => [{ role: 'user', content }]
const MADE = {
  responses: {
    path: '/v1/responses',
    body: { model: 'responses/m', input: 'hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    whole: JSON.stringify(RESPONSE),
    streamed: sse([
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
      ...ITEMS.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: item.type === 'message' ? { ...item, content: [] } : item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: RESPONSE },
    ]),
  },
  messages: {
    path: '/v1/messages',
    body: {
      ...{ model: 'messages/m', max_tokens: 9, messages: said([{ type: 'text', text: 'hi' }]) },
      tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
    },
    whole: JSON.stringify(ANSWER),
    streamed: STREAMED,
  },
} as const

const NAMED: readonly (readonly [dialect: keyof typeof MADE, named: string, members: object])[] = [
  ...['rs_1', 'ci_1', 'fc_1', 'msg_1'].flatMap((id) =>
    [{ type: 'item_reference', id }, { id }, { type: null, id }].map(
      (item) => ['responses', JSON.stringify(item), { input: [item, { role: 'user', content: 'x' }] }] as const,
    ),
  ),
  ['responses', 'a container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
  [
    'responses',
    'a file of a tool',
    { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['cfile_1'] } }] },
  ],
  ['responses', 'a file', { input: said([{ type: 'input_file', file_id: 'cfile_1' }]) }],
  ['responses', 'an image', { input: said([{ type: 'input_image', file_id: 'cfile_1' }]) }],
  ['messages', 'a container', { container: 'container_1' }],
  ['messages', 'a container with skills', { container: { id: 'container_1', skills: [] } }],
  ['messages', 'a document', { messages: said([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]) }],
  ['messages', 'an upload', { messages: said([{ type: 'container_upload', file_id: 'file_1' }]) }],
]

describe.each([false, true])('made for one key (stream: %s)', (stream) => {
  it.each(NAMED)('%s: %s is 404 for another key and serves its own', async (dialect, _named, members) => {
    const { alice, bob } = await start()
    const { path, body, whole, streamed } = MADE[dialect]
    t.upstream.script(stream ? raw(200, streamed, { contentType: 'text/event-stream' }) : raw(200, whole))
    const made = await t.post(path, { ...body, stream }, alice)
    expect([made.status, (await made.text()).includes('hi')]).toEqual([200, true])
    const refused = await t.post(path, { ...body, ...members }, bob)
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringMatching(/ with id '\w+' not found/)])
    expect(t.upstream.requests).toHaveLength(1)
    t.upstream.script(text('ok'))
    expect((await t.post(path, { ...body, ...members }, alice)).status).toBe(200)
  })
})

it('a member whose name is escaped is the same member', async () => {
  const { alice, bob } = await start()
  const { path, body, whole } = MADE.messages
  t.upstream.script(raw(200, whole))
  await (await t.post(path, body, alice)).text()
  const sent = JSON.stringify({ ...body, container: 'container_1' }).replace('"container"', '"c\\u006fntainer"')
  const headers = { 'content-type': 'application/json', ...bob }
  expect((await t.fetch(path, { method: 'POST', body: sent, headers })).status).toBe(404)
})

it('ids that the gateway did not see made are passed on, and on the local profile all of them', async () => {
  const { bob } = await start()
  for (const [dialect, , members] of NAMED) {
    t.upstream.script(text('ok'))
    expect((await t.post(MADE[dialect].path, { ...MADE[dialect].body, ...members }, bob)).status).toBe(200)
  }
  await t.close()
  const { alice, bob: other } = await start({})
  t.upstream.script(raw(200, MADE.messages.whole), text('ok'))
  await (await t.post('/v1/messages', MADE.messages.body, alice)).text()
  expect((await t.post('/v1/messages', { ...MADE.messages.body, container: 'container_1' }, other)).status).toBe(200)
})

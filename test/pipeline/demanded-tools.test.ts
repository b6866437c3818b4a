// Tools that a target cannot run: dropped with a warning while the model may answer without them, refused when the caller requires a
// call.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../adapters/testing/index.ts'

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

type Demand = 'none' | 'by name' | 'any'
interface Hosted {
  path: (target: string) => string
  body: (target: string, demand: Demand) => object
}

const responses = (type: string, more: object = {}): Hosted => ({
  path: () => '/v1/responses',
  body: (target, demand) => ({
    model: `${target}/m`,
    input: 'hi',
    tools: [{ type, ...more }],
    ...(demand === 'none' ? {} : { tool_choice: demand === 'any' ? 'required' : { type } }),
  }),
})
const messages = (type: string, name: string): Hosted => ({
  path: () => '/v1/messages',
  body: (target, demand) => ({
    model: `${target}/m`,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type, name }],
    ...(demand === 'none' ? {} : { tool_choice: demand === 'any' ? { type: 'any' } : { type: 'tool', name } }),
  }),
})
const google = (tool: object): Hosted => ({
  path: (target) => `/v1beta/models/${target}/m:generateContent`,
  body: (_target, demand) => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [tool],
    ...(demand === 'none' ? {} : { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
  }),
})

/** Hosted tools that no target of another dialect runs. */
const HOSTED: Record<string, { hosted: Hosted; targets: string[] }> = {}
const foreignTo = (own: string) => ['chat', 'messages', 'generate_content', 'responses'].filter((one) => one !== own)
for (const type of ['image_generation', 'file_search', 'code_interpreter', 'computer_use_preview', 'local_shell', 'apply_patch'])
  HOSTED[`responses ${type}`] = { hosted: responses(type), targets: foreignTo('responses') }
HOSTED['responses mcp'] = {
  hosted: responses('mcp', { server_label: 'a', server_url: 'https://mcp.example' }),
  targets: foreignTo('responses'),
}
for (const [type, name] of Object.entries({
  bash_20250124: 'bash',
  memory_20250818: 'memory',
  text_editor_20250728: 'str_replace_based_edit_tool',
}))
  HOSTED[`messages ${type}`] = { hosted: messages(type, name), targets: foreignTo('messages') }
for (const name of ['urlContext', 'googleMaps', 'codeExecution'])
  HOSTED[`generate-content ${name}`] = { hosted: google({ [name]: {} }), targets: foreignTo('generate_content') }

describe.each(Object.entries(HOSTED))('%s', (_name, { hosted, targets }) => {
  it.each(targets)('towards %s: a warning where the model may choose, 400 where a call is demanded', async (target) => {
    const sent = t.upstream.requests.length
    for (const demand of ['by name', 'any'] as const) {
      const refused = await t.post(hosted.path(target), hosted.body(target, demand))
      const { error } = (await refused.json()) as { error: { param: string; message: string } }
      expect([demand, refused.status, error.param]).toEqual([demand, 400, expect.stringMatching(/^(tool_choice|toolConfig)/)])
    }
    expect(t.upstream.requests.length).toBe(sent)
    t.upstream.script(text('ok'))
    const answered = await t.post(hosted.path(target), hosted.body(target, 'none'))
    expect(answered.status).toBe(200)
    expect(answered.headers.get('x-gateway-warnings')).toContain('dropped_tool')
    expect(t.upstream.requests.at(-1)?.json.tools ?? []).toEqual([])
  })
})

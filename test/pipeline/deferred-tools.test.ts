// Deferred tools of Claude Code on targets of other dialects: references become text, and load the tools that they name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'

const schema = { type: 'object', properties: {} }
const SEARCH = { name: 'ToolSearch', input_schema: schema }
const LATER = ['mcp__a__one', 'mcp__a__two', 'mcp__b__three'].map((name) => ({
  name,
  description: `does ${name}`,
  input_schema: schema,
  defer_loading: true,
}))
const ASKED = { role: 'user', content: 'hi' }
const searched = (content: unknown[]) => [
  ASKED,
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
]
const reference = (tool_name: string) => ({ type: 'tool_reference', tool_name })

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

async function sent(target: string, messages: unknown[], more: object = {}) {
  const body = { model: `${target}/m`, max_tokens: 99, messages, tools: [SEARCH, ...LATER], ...more }
  const response = await t.post('/v1/messages', body)
  expect(response.status, await response.clone().text()).toBe(200)
  const json = t.upstream.requests.at(-1)?.json ?? {}
  const { tools = [], functions: _, ...rest } = json
  const names = [...JSON.stringify(tools).matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name)
  return {
    names,
    rest: JSON.stringify(rest),
    tools: JSON.stringify(tools),
    warnings: response.headers.get('x-gateway-warnings') ?? '',
  }
}

describe.each(['chat', 'responses', 'generate_content'])('on %s', (target) => {
  it('a deferred tool is not offered before it is referenced, and a warning says so', async () => {
    const { names, tools, warnings } = await sent(target, [ASKED])
    expect(names).toEqual(['ToolSearch'])
    expect(tools).not.toContain('defer_loading')
    expect(warnings).toContain('dropped_deferred_tools')
  })

  it('a reference loads its tool and reaches the model as text', async () => {
    const content = [reference('mcp__a__one'), reference('mcp__b__three'), { type: 'text', text: 'that is all' }]
    const { names, tools, rest, warnings } = await sent(target, searched(content))
    expect(names).toEqual(['ToolSearch', 'mcp__a__one', 'mcp__b__three'])
    expect(tools).not.toContain('defer_loading')
    expect(rest).toContain('mcp__a__one, mcp__b__three')
    expect(rest).toContain('that is all')
    expect(warnings).toContain('dropped_deferred_tools')
    const all = await sent(target, searched(LATER.map(({ name }) => reference(name))))
    expect(all.names).toHaveLength(4)
    expect(all.warnings).not.toContain('dropped_deferred_tools')
  })

  it('a tool that was called or is to be called stays', async () => {
    const used = [
      ASKED,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_2', name: 'mcp__a__two', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'ok' }] },
    ]
    expect((await sent(target, used)).names).toEqual(['ToolSearch', 'mcp__a__two'])
    const forced = { tool_choice: { type: 'tool', name: 'mcp__a__one' } }
    expect((await sent(target, [ASKED], forced)).names).toEqual(['ToolSearch', 'mcp__a__one'])
  })

  it('where no other tool could load them, all are offered', async () => {
    expect((await sent(target, [ASKED], { tools: LATER })).names).toEqual(LATER.map(({ name }) => name))
  })

  it('where the vendor’s own search cannot run, all tools are offered', async () => {
    const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
    const { names, warnings } = await sent(target, [ASKED], { tools: [search, ...LATER] })
    expect(names).toEqual(LATER.map(({ name }) => name))
    expect(warnings).toContain('dropped_tool')
  })
})

it('its own dialect gets everything as it came', async () => {
  const { rest, tools } = await sent('messages', searched([reference('mcp__a__one')]))
  expect(rest).toContain('"tool_reference"')
  expect(tools).toContain('"defer_loading":true')
})

import { describe, expect, it } from 'vitest'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalRequest, FunctionTool, Tool } from '../../../../core/types/request/canonical.ts'
import { assistant, codec, driver, encode, thrown, toolCall, toolResult, user } from './support.ts'

const tool = (name: string, extra: Partial<FunctionTool> = {}): Tool => ({
  t: 'function',
  name,
  schema: { type: 'object', properties: {} },
  ...extra,
})
const openai = (model: string) =>
  codec({ provider: 'openai', model, caps: openaiCaps(model), quirks: { pdf: true, maxTools: 128, maxStop: 4 } })
const decodeBody = (value: unknown) => wireBody(JSON.stringify(value))

describe('tools for a chat upstream', () => {
  it('function tools set the effort to none or are refused, as the model requires', () => {
    const on = openai('gpt-5.4')
    expect(encode({ tools: [tool('f')] }, on)).toMatchObject({ reasoning_effort: 'none' })
    expect(on.warnings).toEqual(['reasoning_clamped'])
    expect(thrown(() => encode({ tools: [tool('f')] }, openai('gpt-6.2')))).toMatchObject({
      param: 'tools',
      code: 'unsupported_for_target',
    })
    expect(encode({ tools: [tool('f')] }, openai('gpt-4.1'))).not.toHaveProperty('reasoning_effort')
  })

  it('tools [] with tool_choice removes both', () => {
    const wire = encode({ tools: [], toolChoice: { mode: 'auto' }, parallelToolCalls: false })
    expect(Object.keys(wire)).toEqual(['model', 'messages'])
  })

  it('tool names are sanitised, stay distinct, and are restored', () => {
    const on = codec()
    const wire = encode(
      { tools: [tool('a.b/c d'), tool('a_b_c_d'), tool('x'.repeat(80))], toolChoice: { mode: 'tool', name: 'a.b/c d' } },
      on,
    )
    const names = (wire.tools as { function: { name: string } }[]).map((item) => item.function.name)
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(wire.tool_choice).toEqual({ type: 'function', function: { name: names[0] } })
    expect(names.map((name) => on.names.get(name))).toEqual(['a.b/c d', 'a_b_c_d', 'x'.repeat(80)])
  })

  it('strict survives where the schema qualifies and is false where it does not', () => {
    const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
    const strict = (extra: Partial<FunctionTool>, source: CanonicalRequest['source'] = 'messages') =>
      (encode({ source, tools: [tool('f', extra)] }).tools as { function: { strict?: boolean } }[])[0]?.function.strict
    expect(strict({ strict: true, schema: closed })).toBe(true)
    expect(strict({ strict: true, schema: { ...closed, required: [] } })).toBe(false)
    expect(strict({ strict: true, schema: { ...closed, properties: { a: { type: 'object', properties: {} } } } })).toBe(false)
    expect(strict({ schema: closed })).toBe(undefined)
    // In the responses dialect the default is strict.
    expect(strict({ schema: closed }, 'responses')).toBe(true)
    expect(strict({ schema: { type: 'object' } }, 'responses')).toBe(false)
  })

  it('members of other dialects never leak into function objects', () => {
    const wire = encode({
      tools: [tool('f', { deferLoading: true, cache: {}, ext: { messages: { input_examples: [1], allowed_callers: [] } } })],
    })
    expect(wire.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }])
  })

  it('typed tools of other dialects are dropped with a warning, forcing one is refused', () => {
    const on = codec()
    const bash: Tool = { t: 'server', dialect: 'messages', kind: 'bash_20250124', raw: { type: 'bash_20250124', name: 'bash' } }
    expect(encode({ tools: [bash, tool('f')] }, on).tools).toHaveLength(1)
    expect(on.warnings).toEqual(['dropped_tool'])
    expect(thrown(() => encode({ tools: [bash, tool('f')], toolChoice: { mode: 'tool', name: 'bash' } }))).toMatchObject({
      param: 'tool_choice',
    })
    expect(
      thrown(() => encode({ source: 'responses', tools: [tool('f')], toolChoice: { mode: 'server', raw: { type: 'mcp' } } })),
    ).toMatchObject({ param: 'tool_choice' })
  })

  it('custom tools become functions of one input, namespaces are flattened, both are restored', () => {
    const on = codec({ caller: 'responses' })
    const wire = encode(
      {
        source: 'responses',
        tools: [
          {
            t: 'custom',
            name: 'apply_patch',
            description: 'd',
            format: { type: 'grammar', syntax: 'lark', definition: 'start: X' },
          },
          { t: 'namespace', name: 'ns', description: '', tools: [tool('run')] },
          { t: 'server', dialect: 'responses', kind: 'local_shell', raw: { type: 'local_shell' } },
        ],
        messages: [
          user('x'),
          assistant(
            toolCall('a', 'apply_patch', '*** Begin', { kind: 'custom' }),
            toolCall('b', 'run', '{}', { namespace: 'ns' }),
          ),
          toolResult('a', '1'),
          toolResult('b', '2'),
        ],
      },
      on,
    )
    expect(wire.tools).toMatchObject([
      { type: 'function', function: { name: 'apply_patch', parameters: { required: ['input'] } } },
      { function: { name: 'ns__run' } },
    ])
    expect(wire.messages[1]).toMatchObject({
      tool_calls: [{ function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } }, { function: { name: 'ns__run' } }],
    })
    const answer = driver.decodeResponse(
      decodeBody({
        id: 'x',
        choices: [
          {
            index: 0,
            message: {
              content: null,
              tool_calls: [
                { id: 'p', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"*** End"}' } },
                { id: 'q', type: 'function', function: { name: 'ns__run', arguments: '{}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
      on,
    )
    expect(answer.choices[0]?.parts).toEqual([
      { t: 'tool_call', id: 'p', idMinted: false, name: 'apply_patch', args: '*** End', kind: 'custom' },
      { t: 'tool_call', id: 'q', idMinted: false, name: 'run', namespace: 'ns', args: '{}', kind: 'function' },
    ])
  })

  it('custom tools of a chat caller stay custom', () => {
    const wire = encode({
      source: 'chat',
      tools: [{ t: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
      toolChoice: { mode: 'tool', name: 'c' },
    })
    expect(wire.tools).toEqual([
      { type: 'custom', custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } } },
    ])
    expect(wire.tool_choice).toEqual({ type: 'custom', custom: { name: 'c' } })
  })

  it('allowed tools are native for OpenAI and a filter for other vendors', () => {
    const tools = [tool('a'), tool('b')]
    const toolChoice = { mode: 'allowed' as const, base: 'required' as const, names: ['a'] }
    expect(encode({ tools, toolChoice })).toMatchObject({ tools: [{ function: { name: 'a' } }], tool_choice: 'required' })
    expect(encode({ tools, toolChoice }, openai('gpt-4.1'))).toMatchObject({
      tools: [{}, {}],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
    })
    expect(encode({ tools, toolChoice: { ...toolChoice, names: ['zz'] } }).tools).toHaveLength(2)
  })
})

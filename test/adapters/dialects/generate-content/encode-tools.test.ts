import { describe, expect, it } from 'vitest'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { assistant, codec, driver, encode, request, toolCall, user } from './support.ts'

type Contents = { role: string; parts: JsonObject[] }[]
const contentsOf = (body: JsonObject): Contents => body.contents as Contents

describe('canonical tools → generate-content', () => {
  it('tool names are sanitised, stay distinct, and are restored', () => {
    const on = codec()
    const { body } = encode(
      request({
        tools: [
          { t: 'function', name: 'a/b c' },
          { t: 'function', name: 'a_b c' },
          { t: 'function', name: '1x' },
        ],
      }),
      on,
    )
    const names =
      (body.tools as { functionDeclarations: { name: string }[] }[])[0]?.functionDeclarations.map((tool) => tool.name) ?? []
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/)
    expect(names.map((name) => on.names.get(name))).toEqual(['a/b c', 'a_b c', '1x'])
  })

  it('no other vendor’s tool keys leak into declarations', () => {
    const { text } = encode(
      request({
        tools: [
          {
            t: 'function',
            name: 'f',
            description: 'd',
            strict: true,
            deferLoading: true,
            cache: { ttl: '1h' },
            ext: { messages: { input_examples: [], allowed_callers: [] } },
          },
        ],
      }),
    )
    expect(text).toContain('"functionDeclarations":[{"name":"f","description":"d"}]')
  })

  it('maps every tool choice', () => {
    const tools = [
      { t: 'function' as const, name: 'f' },
      { t: 'function' as const, name: 'g' },
    ]
    const config = (toolChoice: NonNullable<Parameters<typeof request>[0]>['toolChoice'], model = 'gemini-3-flash') =>
      (encode(request({ tools, toolChoice }), codec({ model })).body.toolConfig as JsonObject).functionCallingConfig
    expect(config({ mode: 'none' })).toEqual({ mode: 'NONE' })
    expect(config({ mode: 'auto' })).toEqual({ mode: 'AUTO' })
    expect(config({ mode: 'required' })).toEqual({ mode: 'ANY' })
    expect(config({ mode: 'tool', name: 'g' })).toEqual({ mode: 'ANY', allowedFunctionNames: ['g'] })
    expect(config({ mode: 'allowed', base: 'required', names: ['f', 'g'] })).toEqual({
      mode: 'ANY',
      allowedFunctionNames: ['f', 'g'],
    })
    expect(config({ mode: 'allowed', base: 'auto', names: ['f', 'x'] })).toEqual({
      mode: 'VALIDATED',
      allowedFunctionNames: ['f'],
    })
    expect(config({ mode: 'allowed', base: 'auto', names: ['x'] })).toEqual({ mode: 'AUTO' })
    const legacy = encode(
      request({ tools, toolChoice: { mode: 'allowed', base: 'auto', names: ['f'] } }),
      codec({ model: 'gemini-2.0-flash' }),
    ).body
    expect(legacy).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    })
  })

  it('an empty tool list also removes the tool choice', () => {
    const { body } = encode(request({ tools: [], toolChoice: { mode: 'tool', name: 'f' } }))
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('toolConfig')
  })

  it('foreign server tools are dropped with a warning, and refused when forced', () => {
    const bash = { t: 'server' as const, dialect: 'messages' as const, kind: 'bash_20250124', raw: {} }
    const on = codec()
    expect(encode(request({ tools: [bash] }), on).body).not.toHaveProperty('tools')
    expect(on.warnings).toEqual(['dropped_tool'])
    expect(() => encode(request({ tools: [bash], toolChoice: { mode: 'tool', name: 'bash' } }))).toThrow(
      expect.objectContaining({ param: 'tool_choice' }),
    )
  })

  it('maps web search, code execution, custom tools and namespaces', () => {
    const on = codec()
    const { body } = encode(
      request({
        webSearch: {},
        tools: [
          { t: 'server', dialect: 'messages', kind: 'web_search_20250305', raw: {} },
          { t: 'server', dialect: 'messages', kind: 'code_execution_20250825', raw: {} },
          { t: 'custom', name: 'patch', description: 'p' },
          { t: 'namespace', name: 'ns', description: '', tools: [{ t: 'function', name: 'f' }] },
        ],
      }),
      on,
    )
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'patch',
            description: 'p',
            parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
          },
          { name: 'ns__f' },
        ],
      },
      { googleSearch: {} },
      { codeExecution: {} },
    ])
    expect(body.toolConfig).toEqual({ includeServerSideToolInvocations: true })
    const call = (name: string, args: object) => ({
      candidates: [{ content: { parts: [{ functionCall: { name, args } }] }, finishReason: 'STOP' }],
    })
    const decoded = (name: string, args: object) => driver.decodeResponse(bodyOf(call(name, args)), on).choices[0]?.parts[0]
    expect(decoded('patch', { input: '*** begin' })).toMatchObject({
      t: 'tool_call',
      kind: 'custom',
      name: 'patch',
      args: '*** begin',
    })
    expect(decoded('ns__f', {})).toMatchObject({ name: 'f', namespace: 'ns', args: '{}' })
  })

  it('drops server tools beside functions before Gemini 3', () => {
    const on = codec({ model: 'gemini-2.5-flash' })
    const { body } = encode(request({ webSearch: {}, tools: [{ t: 'function', name: 'f' }] }), on)
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }])
    expect(on.warnings).toEqual(['dropped_tool'])
  })

  it('with tools, 2.5 gets an instruction and a warning instead of the JSON schema, and 3 gets both', () => {
    const wanted = request({ tools: [{ t: 'function', name: 'f' }], output: { kind: 'json_schema', schema: { type: 'object' } } })
    const on = codec({ model: 'gemini-2.5-flash' })
    const old = encode(wanted, on)
    expect(old.body).not.toHaveProperty('generationConfig')
    expect(old.text).toContain('JSON Schema')
    expect(on.warnings).toEqual(['output_schema_as_instruction'])
    expect(encode(wanted).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    })
  })

  it('wraps arguments that are no object', () => {
    const on = codec()
    const messages = [
      user('go'),
      assistant(toolCall('1', 'f', ''), toolCall('2', 'f', 'null'), toolCall('3', 'f', '[1]'), toolCall('4', 'f', '{bad')),
    ]
    const parts = contentsOf(encode(request({ messages }), on).body)[1]?.parts ?? []
    expect(parts.map((part) => (part.functionCall as JsonObject).args)).toEqual([{}, {}, { _raw: '[1]' }, { _raw: '{bad' }])
    expect(on.warnings).toContain('tool_args_wrapped')
  })
})

function bodyOf(value: object) {
  return wireBody(JSON.stringify(value))
}

import { describe, expect, it } from 'vitest'
import { decode } from './support.ts'

describe('responses: decoding content and options', () => {
  it('reads images, files, options and output formats', () => {
    const request = decode({
      model: 'm',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'https://x/y.png', detail: 'low' },
            { type: 'input_image', file_id: 'file_1' },
            { type: 'input_file', file_data: 'QUJD', filename: 'a.txt' },
            { type: 'input_file', file_url: 'https://x/y.pdf' },
            { type: 'input_text', text: '' },
            { type: 'input_text', text: 'end', prompt_cache_breakpoint: { mode: 'explicit' } },
          ],
        },
      ],
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      top_logprobs: 2,
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      service_tier: 'priority',
      prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    })
    expect(request.messages[0]?.parts).toEqual([
      { t: 'image', src: { kind: 'url', url: 'https://x/y.png' }, detail: 'low' },
      { t: 'image', src: { kind: 'file', id: 'file_1' } },
      { t: 'document', src: { kind: 'base64', mime: 'text/plain', data: 'QUJD' }, mime: 'text/plain', filename: 'a.txt' },
      { t: 'document', src: { kind: 'url', url: 'https://x/y.pdf' } },
      { t: 'text', text: 'end', cache: {} },
    ])
    expect(request).toMatchObject({
      output: { kind: 'json_schema', name: 'n', strict: true },
      logprobs: { enabled: true, top: 2 },
      endUser: 'u',
      safetyId: 's',
      metadata: { a: 'b' },
      serviceTier: 'priority',
      cache: { mode: 'explicit' },
    })
  })

  it('reads the four forms of tool_choice', () => {
    const choice = (tool_choice: unknown) => decode({ model: 'm', input: 'x', tool_choice }).toolChoice
    expect(choice('required')).toEqual({ mode: 'required' })
    expect(choice({ type: 'function', name: 'f' })).toEqual({ mode: 'tool', name: 'f' })
    expect(choice({ type: 'custom', name: 'c' })).toEqual({ mode: 'tool', name: 'c' })
    expect(
      choice({ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }, { type: 'image_generation' }] }),
    ).toEqual({
      mode: 'allowed',
      base: 'required',
      names: ['f', 'image_generation'],
    })
    expect(choice({ type: 'file_search' })).toEqual({ mode: 'server', raw: { type: 'file_search' } })
  })

  it.each([
    [{ model: 'm' }, 'input'],
    [{ model: 'm', input: 5 }, 'input'],
    [{ model: 'm', input: [1] }, 'input[0]'],
    [{ model: 'm', input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [{ model: 'm', input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].image_url'],
    [{ model: 'm', input: [{ type: 'function_call', call_id: 'x' }] }, 'input[0].name'],
    [{ model: 'm', input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
    [{ model: 'm', input: 'x', temperature: '1' }, 'temperature'],
    [{ model: 'm', input: 'x', tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ model: 'm', input: 'x', tools: {} }, 'tools'],
    [{ model: 'm', input: 'x', reasoning: 'high' }, 'reasoning'],
    [{ model: 7, input: 'x' }, 'model'],
  ])('a wrong type is a 400 naming the field: %j', (body, param) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ status: 400, param }))
  })
})

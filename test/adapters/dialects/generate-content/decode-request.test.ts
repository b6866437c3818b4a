import { describe, expect, it } from 'vitest'
import { wrapSignature } from '../../../../core/models/signature.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import { codec, decode, encode } from './support.ts'

describe('generate-content request → canonical', () => {
  it('role missing, snake_case keys and upper-case types are all understood', () => {
    const request = decode({
      system_instruction: { parts: [{ text: 'be brief' }] },
      contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'AAAA' } }, { text: 'what?' }] }],
      tools: [
        {
          function_declarations: [
            {
              name: 'f',
              parameters: {
                type: 'OBJECT',
                properties: {
                  a: { type: 'STRING', nullable: true },
                  n: { type: 'ARRAY', min_items: '2', items: { type: 'INTEGER' } },
                },
              },
            },
          ],
        },
      ],
      tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
      generation_config: {
        max_output_tokens: 9,
        stop_sequences: ['x'],
        top_p: 0.5,
        thinking_config: { thinking_budget: 0 },
        candidate_count: null,
      },
    })
    expect(request.system).toEqual([{ role: 'system', parts: [{ t: 'text', text: 'be brief' }] }])
    expect(request.messages).toEqual([
      {
        role: 'user',
        parts: [
          { t: 'image', src: { kind: 'base64', data: 'AAAA', mime: 'image/png' } },
          { t: 'text', text: 'what?' },
        ],
      },
    ])
    expect(request.tools).toEqual([
      {
        t: 'function',
        name: 'f',
        schema: {
          type: 'object',
          properties: { a: { type: ['string', 'null'] }, n: { type: 'array', minItems: 2, items: { type: 'integer' } } },
        },
      },
    ])
    expect(request.toolChoice).toEqual({ mode: 'tool', name: 'f' })
    expect(request).toMatchObject({
      maxTokens: 9,
      stop: ['x'],
      sampling: { topP: 0.5 },
      reasoning: { mode: 'disabled', effort: 'none' },
    })
    expect(request.sampling).not.toHaveProperty('n')
  })

  it('calls without ids, the same function twice, get ids and their results first in first out', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'f', args: { a: 2 } } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: 'one' } } },
          { functionResponse: { name: 'f', response: { output: 'two' } } },
        ],
      },
    ]
    const [, calls, results] = decode({ contents }).messages
    const ids = calls?.parts.map((part) => (part.t === 'tool_call' ? part.id : ''))
    expect(ids?.[0]).toMatch(/^call_[0-9a-zA-Z]{24}$/)
    expect(ids?.[0]).not.toBe(ids?.[1])
    expect(calls?.parts.every((part) => part.t === 'tool_call' && part.idMinted)).toBe(true)
    expect(results?.role).toBe('tool')
    expect(results?.parts.map((part) => (part.t === 'tool_result' ? [part.callId, part.name, part.parts] : []))).toEqual([
      [ids?.[0], 'f', [{ t: 'text', text: 'one' }]],
      [ids?.[1], 'f', [{ t: 'text', text: 'two' }]],
    ])
    // The same history gives the same ids, so that prompt caches of the upstream still match.
    expect(decode({ contents }).messages).toEqual(decode({ contents }).messages)
  })

  it('pairs results by id, then by name, then by position', () => {
    const request = decode({
      contents: [
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', id: '1' } },
            { functionCall: { name: 'g', id: '2' } },
            { functionCall: { name: 'h' } },
          ],
        },
        {
          role: 'user',
          parts: [
            { text: 'and more' },
            { functionResponse: { name: 'g', id: '2', response: { error: 'no' } } },
            { functionResponse: { name: 'f', response: { a: 1 } } },
            { functionResponse: { response: {} } },
          ],
        },
      ],
    })
    const calls = request.messages[0]?.parts.map((part) => (part.t === 'tool_call' ? part.id : '')) ?? []
    expect(request.messages.map((message) => message.role)).toEqual(['assistant', 'tool', 'user'])
    expect(request.messages[1]?.parts).toMatchObject([
      { callId: '2', name: 'g', isError: true, parts: [{ text: 'no' }] },
      { callId: '1', name: 'f', parts: [{ text: '{"a":1}' }] },
      { callId: calls[2], name: 'h', parts: [] },
    ])
  })

  it('the digits of big numbers in arguments survive, in either key style', () => {
    for (const [call, response] of [
      ['functionCall', 'functionResponse'],
      ['function_call', 'function_response'],
    ]) {
      const request = decode(
        `{"contents":[{"role":"model","parts":[{"text":"a"},{"${call}":{"name":"f","args":{"id":12345678901234567890}}}]},` +
          `{"parts":[{"${response}":{"name":"f","response":{"output":98765432109876543210}}}]}]}`,
      )
      expect(request.messages[0]?.parts[1]).toMatchObject({ args: '{"id":12345678901234567890}' })
      expect(request.messages[1]?.parts[0]).toMatchObject({ parts: [{ t: 'text', text: '98765432109876543210' }] })
      expect(encode(request, codec({ caller: 'generate_content' })).text).toContain('"args":{"id":12345678901234567890}')
    }
  })

  it('keeps a signature on the part that carried it, and unwraps foreign ones', () => {
    const foreign = { dialect: 'messages' as const, modelFamily: 'claude', value: 'secret' }
    const parts = decode({
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true, thoughtSignature: wrapSignature(foreign, 'base64') },
            { text: 'yes', thoughtSignature: 'abcd' },
            { functionCall: { name: 'f' }, thoughtSignature: 'efgh' },
          ],
        },
      ],
    }).messages[0]?.parts
    expect(parts).toMatchObject([
      { t: 'reasoning', text: 'hm', signature: foreign },
      { t: 'text', text: 'yes', signature: { dialect: 'generate_content', modelFamily: '', value: 'abcd' } },
      { t: 'tool_call', args: '{}', signature: { value: 'efgh' } },
    ])
  })

  it('joins streamed pieces that a client replays as many contents', () => {
    const piece = (part: object) => ({ role: 'model', parts: [part] })
    const request = decode({
      contents: [
        piece({ text: 'thin', thought: true }),
        piece({ text: 'king', thought: true }),
        piece({ text: '', thought: true, thoughtSignature: 'S1' }),
        piece({ text: 'Hel' }),
        piece({ text: 'lo' }),
        piece({ text: '', thoughtSignature: 'S2' }),
      ],
    })
    expect(request.messages).toMatchObject([
      {
        role: 'assistant',
        parts: [
          { t: 'reasoning', text: 'thinking', signature: { value: 'S1' } },
          { t: 'text', text: 'Hello', signature: { value: 'S2' } },
        ],
      },
    ])
  })

  it('removes empty text parts and messages that nothing is left of', () => {
    expect(
      decode({ contents: [{ parts: [{ text: '' }] }, { parts: [{ text: 'a' }, { text: '' }] }, { role: 'model', parts: [] }] })
        .messages,
    ).toEqual([{ role: 'user', parts: [{ t: 'text', text: 'a' }] }])
  })

  it('tells addresses only Google can read from those anybody can', () => {
    const file = (fileUri: string, mimeType?: string): Part | undefined =>
      decode({ contents: [{ parts: [{ fileData: { fileUri, mimeType } }] }] }).messages[0]?.parts[0]
    expect(file('gs://bucket/a.pdf')).toMatchObject({
      t: 'document',
      src: { kind: 'uri', uri: 'gs://bucket/a.pdf', mime: 'application/pdf' },
    })
    expect(file('https://generativelanguage.googleapis.com/v1beta/files/x', 'audio/wav')).toMatchObject({
      t: 'audio',
      format: 'wav',
      src: { kind: 'uri' },
    })
    expect(file('https://example.com/cat.png')).toMatchObject({
      t: 'image',
      src: { kind: 'url', url: 'https://example.com/cat.png' },
    })
    expect(file('https://youtu.be/x')).toMatchObject({ t: 'video' })
  })

  it('keeps unknown fields for its own dialect and gives them back', () => {
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'a', mediaResolution: { level: 'HIGH' } }] }],
      safetySettings: [{ category: 'X' }],
      cachedContent: 'cachedContents/1',
      generationConfig: { speechConfig: { voiceConfig: {} }, temperature: 0.1 },
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f', behavior: 'BLOCKING' }] }],
      toolConfig: { retrievalConfig: { languageCode: 'de' }, functionCallingConfig: { mode: 'VALIDATED' } },
      serviceTier: 'flex',
    }
    const request = decode(body)
    expect(request.webSearch).toEqual({})
    const { body: sent } = encode(request, codec({ caller: 'generate_content' }))
    expect(sent).toMatchObject({
      ...body,
      tools: [{ functionDeclarations: [{ name: 'f', behavior: 'BLOCKING' }] }, { googleSearch: {} }],
      toolConfig: {
        retrievalConfig: { languageCode: 'de' },
        functionCallingConfig: { mode: 'VALIDATED' },
        includeServerSideToolInvocations: true,
      },
    })
  })

  it('model and stream come from the body on the chat route', () => {
    const request = decode({ model: 'google/gemini-3-flash', stream: true, contents: [] }, {})
    expect(request).toMatchObject({ model: 'google/gemini-3-flash', stream: true, source: 'generate_content', ext: {} })
    expect(() => decode({ contents: [] }, {})).toThrow(expect.objectContaining({ status: 400, param: 'model' }))
  })

  it('refuses wrong types by name', () => {
    const bad: [object, string][] = [
      [{}, 'contents'],
      [{ contents: 'hi' }, 'contents'],
      [{ contents: [{ role: 'robot', parts: [] }] }, 'contents.0.role'],
      [{ contents: [{ parts: [{ text: 5 }] }] }, 'contents.0.parts.0.text'],
      [{ contents: [], generationConfig: { temperature: 'warm' } }, 'generationConfig.temperature'],
      [{ contents: [], generationConfig: [] }, 'generationConfig'],
      [{ contents: [], tools: [{ functionDeclarations: [{}] }] }, 'tools.0.functionDeclarations.0.name'],
    ]
    for (const [body, param] of bad) {
      expect(() => decode(body)).toThrow(expect.objectContaining({ name: 'GatewayError', status: 400, param }))
    }
  })

  it('reads output formats, thinking and log probabilities', () => {
    const config = (generationConfig: object) => decode({ contents: [], generationConfig })
    expect(config({ responseMimeType: 'application/json' }).output).toEqual({ kind: 'json_object' })
    expect(config({ responseMimeType: 'application/json', responseSchema: { type: 'STRING' } }).output).toEqual({
      kind: 'json_schema',
      schema: { type: 'string' },
    })
    expect(config({ responseJsonSchema: { type: 'object' } }).output).toEqual({ kind: 'json_schema', schema: { type: 'object' } })
    expect(config({ responseMimeType: 'text/x.enum', responseSchema: { enum: ['a'] } }).ext.generate_content).toEqual({
      generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { enum: ['a'] } },
    })
    expect(config({ thinkingConfig: { thinkingBudget: -1, includeThoughts: true } }).reasoning).toEqual({
      mode: 'dynamic',
      includeThoughts: true,
    })
    expect(config({ thinkingConfig: { thinkingLevel: 'HIGH' } }).reasoning).toEqual({ effort: 'high' })
    expect(config({ responseLogprobs: true, logprobs: 3 }).logprobs).toEqual({ enabled: true, top: 3 })
    expect(config({ responseModalities: ['TEXT', 'IMAGE'] }).modalities).toEqual(['text', 'image'])
  })
})

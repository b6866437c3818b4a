// Members that limit an answer: two spellings and wrong values are refused before anything is kept back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waiting } from './reservation.ts'
import type { Site } from './support.ts'

let s: Site
beforeAll(async () => {
  ;({ s } = await waiting())
})
afterAll(() => s.close())

describe('a member in two spellings', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  it.each([
    [{ generationConfig: { maxOutputTokens: 1 }, generation_config: { maxOutputTokens: 9 } }, 'generationConfig'],
    [{ generationConfig: { maxOutputTokens: 1, max_output_tokens: 9000 } }, 'maxOutputTokens'],
    [{ generation_config: { candidateCount: 1, candidate_count: 8 } }, 'candidateCount'],
    [{ generationConfig: { thinkingConfig: { thinkingBudget: 1, thinking_budget: 9 } } }, 'thinkingBudget'],
    [{ cachedContent: 'a', cached_content: 'b' }, 'cachedContent'],
    [{ systemInstruction: 'a', system_instruction: null }, 'systemInstruction'],
    [{ contents: [{ parts: [{ inlineData: { mimeType: 'a/b', data: 'YQ==' }, inline_data: {} }] }] }, 'inlineData'],
    [{ contents: [{ parts: [{ inline_data: { mimeType: 'a/b', mime_type: 'video/mp4', data: 'YQ==' } }] }] }, 'mimeType'],
    [{ contents: { parts: { fileData: { fileUri: 'a' }, file_data: { fileUri: 'b' } } } }, 'fileData'],
    [{ tools: [{ functionDeclarations: [], function_declarations: [] }] }, 'functionDeclarations'],
    [{ tools: { googleSearch: {}, google_search: {} } }, 'googleSearch'],
  ])('is 400: %j', async (members, param) => {
    const response = await s.t.post('/v1beta/models/generate_content%2Fm:generateContent', { contents, ...members })
    expect(response.status).toBe(400)
    expect(JSON.stringify(await response.json())).toContain(param)
  })
})

describe('a bound that is no whole number of at least 1', () => {
  const hi = [{ role: 'user', content: 'hi' }]
  it.each<[string, string, (bound: unknown) => object]>([
    ['chat', '/v1/chat/completions', (max_tokens) => ({ model: 'chat/m', messages: hi, max_tokens })],
    ['messages', '/v1/messages', (max_tokens) => ({ model: 'messages/m', messages: hi, max_tokens })],
    ['responses', '/v1/responses', (max_output_tokens) => ({ model: 'responses/m', input: 'hi', max_output_tokens })],
    [
      'generate_content',
      '/v1beta/models/generate_content%2Fm:generateContent',
      (maxOutputTokens) => ({ contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens } }),
    ],
  ])('is 400 of a %s caller, and nothing is sent', async (_dialect, path, body) => {
    const before = s.t.upstream.requests.length
    for (const bound of [0, -1, 0.5, 1.5, 1e300, 'many', [], true])
      expect((await s.t.post(path, body(bound))).status, JSON.stringify(bound)).toBe(bound === 1e300 ? 402 : 400)
    expect(s.t.upstream.requests).toHaveLength(before)
  })
})

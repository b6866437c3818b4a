// A reservation covers the cost that an honest upstream bills for the body: over generated bodies in all dialects, with every spelling of
// a limit, prompts stored at the vendor, tools that run there, and texts of any kind.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { FILES, PAGE, pagesIn } from './pdf-files.ts'
import { type Made, observed as observedBy, WINDOW, waiting } from './reservation.ts'
import { PRICE, type Site, site } from './support.ts'

const IN = PRICE.input * 1e9
const OUT = PRICE.output * 1e9
const IMAGE = 4800
const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

let s: Site
let account: string
beforeAll(async () => {
  ;({ s, account } = await waiting())
})
afterAll(() => s.close())
const observed = (made: Made) => observedBy(s, account, made)

const texts = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  fc.stringMatching(/^[0-9]{1,200}$/),
  fc.stringMatching(/^[-0-9{}[\]();.,]{1,120}$/),
  fc.stringMatching(/^[\u4e00-\u9fff]{1,60}$/),
  fc.constant('A plain sentence in letters only '),
)
const bounds = fc.integer({ min: 1, max: 50_000 })
const pdf = 'https://files.example/a.pdf'
const picture = Buffer.alloc(9000, 7).toString('base64')
const file = [...FILES.keys()]
/** As many bodies have no part besides the text: some targets take none. */
const none: object[][] = file.map(() => [])

/** At least one of them, so that the answer is limited. */
const some = (names: readonly string[]) =>
  fc
    .record(Object.fromEntries(names.map((name) => [name, bounds])), { requiredKeys: [] })
    .filter((members) => Object.keys(members).length > 0)
const maybe = (...members: object[]) => fc.constantFrom<object>({}, ...members)
const spliced = (...parts: fc.Arbitrary<object>[]) => fc.tuple(...parts).map((list) => Object.assign({}, ...list) as object)

const MADE: Record<Dialect, (target: string) => fc.Arbitrary<Made>> = {
  chat: (target) =>
    fc
      .tuple(
        texts,
        some(['max_tokens', 'max_completion_tokens']),
        spliced(
          maybe({ n: 3 }),
          maybe({ max_output_tokens: 60_000 }, { max_new_tokens: 70_000 }),
          maybe({ web_search_options: {} }),
        ),
        fc.constantFrom<object[]>(
          ...none,
          [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }],
          [{ type: 'file', file: { file_id: 'file-1' } }],
          ...file.map((data) => [
            { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } },
          ]),
        ),
      )
      .map(([text, said, more, parts]) => ({
        path: '/v1/chat/completions',
        body: {
          model: `${target}/m`,
          messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }],
          ...said,
          ...more,
        },
      })),
  messages: (target) =>
    fc
      .tuple(
        texts,
        some(['max_tokens']),
        spliced(
          maybe(
            { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
            { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
            { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
          ),
        ),
        fc.constantFrom<object[]>(
          ...none,
          [{ type: 'document', source: { type: 'url', url: pdf } }],
          [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }],
          [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } }],
          ...file.map((data) => [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }]),
        ),
      )
      .map(([text, said, more, parts]) => ({
        path: '/v1/messages',
        body: {
          model: `${target}/m`,
          messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }],
          ...said,
          ...more,
        },
      })),
  responses: (target) =>
    fc
      .tuple(
        texts,
        some(['max_output_tokens']),
        spliced(
          maybe({ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }),
          maybe({ tools: [{ type: 'web_search' }] }, { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
          maybe({ max_tool_calls: 2 }),
          maybe({ max_tokens: 80_000 }),
        ),
        fc.constantFrom<object[]>(
          ...none,
          [{ type: 'input_file', file_id: 'file-1' }],
          [{ type: 'input_file', file_url: pdf }],
          ...file.map((data) => [{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` }]),
        ),
      )
      .map(([text, said, more, parts]) => ({
        path: '/v1/responses',
        body: {
          model: `${target}/m`,
          input: [{ role: 'user', content: [{ type: 'input_text', text }, ...parts] }],
          ...said,
          ...more,
        },
      })),
  generate_content: (target) =>
    fc
      .tuple(
        texts,
        fc.tuple(
          fc.constantFrom('maxOutputTokens', 'max_output_tokens'),
          bounds,
          maybe({ candidateCount: 2 }, { candidate_count: 2 }),
        ),
        fc.constantFrom('generationConfig', 'generation_config'),
        spliced(
          maybe({ cachedContent: 'cachedContents/1' }, { cached_content: 'cachedContents/1' }),
          maybe({ tools: [{ googleSearch: {} }] }, { tools: [{ code_execution: {} }, { url_context: {} }] }),
        ),
        fc.constantFrom<object[]>(
          ...none,
          [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a', mimeType: 'video/mp4' } }],
          [{ inline_data: { mime_type: 'image/png', data: picture } }],
          ...file.map((data) => [{ inline_data: { mime_type: 'application/pdf', data } }]),
        ),
      )
      .map(([text, [name, bound, choices], config, more, parts]) => ({
        path: `/v1beta/models/${target}%2Fm:generateContent`,
        body: { contents: [{ role: 'user', parts: [{ text }, ...parts] }], [config]: { [name]: bound, ...choices }, ...more },
      })),
}

/** With the worst vocabulary: every digit and symbol is a token, and rare characters are one token per byte. */
function tokensOf(text: string): number {
  let tokens = 0
  for (const char of text) {
    if (/[A-Za-z \n]/.test(char)) tokens += 0.5
    else if (/[\u3000-\u9fff\uac00-\ud7a3]/.test(char)) tokens += 2
    else tokens += Buffer.byteLength(char)
  }
  return tokens
}

const BOUND = /^(max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|max_new_tokens)$/
const ELSEWHERE = /^(previous_response_id|conversation|prompt|cached_?content|file_id|file_?uri|file_url)$/i
const SERVER = /^(web_search|code_execution|code_interpreter|google_?search|url_?context)/i

function spoken(name: string, value: string): number {
  return name === 'text' || name === 'content' ? tokensOf(value) : 0
}

/** Returns the nano-USD that an honest upstream may bill for the request. */
function billed(sent: Record<string, unknown>): number {
  let [text, output, choices, uses] = [0, 0, 1, 0]
  let elsewhere = false
  const walk = (value: unknown, name: string, owner: Record<string, unknown>): void => {
    if (typeof value === 'number' && BOUND.test(name)) output = Math.max(output, value)
    if (/^(n|candidate_?count)$/i.test(name)) choices = Number(value)
    if (ELSEWHERE.test(name) || (name === 'url' && value === pdf)) elsewhere = true
    const tool = name === 'type' && typeof value === 'string' ? value : name
    if (SERVER.test(tool) && tool !== 'name') {
      uses += (owner.max_uses as number | undefined) ?? 10
    }
    if (typeof value === 'string') text += value.includes(picture) ? IMAGE : (pagesIn(value) ?? 0) * PAGE || spoken(name, value)
    if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) walk(member, Array.isArray(value) ? name : key, value as never)
  }
  for (const [name, member] of Object.entries(sent)) walk(member, name, sent)
  if (typeof sent.max_tool_calls === 'number') uses = Math.min(uses, sent.max_tool_calls)
  const first = elsewhere ? WINDOW : Math.min(text, WINDOW)
  let input = first
  for (let use = 1; use <= uses; use++) input += Math.min(first + use * 10_000 + output, WINDOW)
  return input * IN + output * choices * OUT
}

describe.each(DIALECTS)('of a %s caller', (caller) => {
  it.each(DIALECTS)('no less is reserved than a %s upstream may bill', async (target) => {
    let sentAny = 0
    await fc.assert(
      fc.asyncProperty(MADE[caller](target), async (made) => {
        const seen = await observed(made)
        if (seen === null) return
        sentAny++
        expect(seen.reserved).toBeGreaterThanOrEqual(billed(seen.sent))
      }),
      { numRuns: 40 },
    )
    expect(sentAny).toBeGreaterThan(0)
  })
})

describe('a prompt that is not in the request', () => {
  it.each<[string, string, object]>([
    ['previous_response_id', '/v1/responses', { model: 'responses/m', input: 'hi', previous_response_id: 'resp_1' }],
    ['conversation', '/v1/responses', { model: 'responses/m', input: 'hi', conversation: 'conv_1' }],
    ['prompt', '/v1/responses', { model: 'responses/m', prompt: { id: 'p' } }],
    [
      'messages',
      '/v1/messages',
      {
        model: 'messages/m',
        max_tokens: 1,
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: pdf } }] }],
      },
    ],
  ])('is refused under a budget with GATEWAY_BUDGET_UNKNOWN_PROMPT=refuse: %s', async (param, path, body) => {
    const other = await site({ env: { BUDGET_UNKNOWN_PROMPT: 'refuse' } })
    expect((await other.t.post(path, body)).status).toBe(200)
    await other.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 1_000_000 })
    const response = await other.t.post(path, body)
    expect(response.status).toBe(400)
    expect(JSON.stringify(await response.json())).toContain(param)
    expect(other.t.upstream.requests).toHaveLength(1)
    await other.close()
  })

  it('is kept back as the whole window also where the answer has no bound', async () => {
    const seen = await observed({
      path: '/v1/responses',
      body: { model: 'responses/m', input: 'hi', previous_response_id: 'resp_1' },
    })
    expect(seen?.reserved).toBeGreaterThanOrEqual(WINDOW * IN)
  })
})

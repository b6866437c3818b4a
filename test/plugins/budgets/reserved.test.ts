// A reservation covers the cost that an honest upstream bills for the body: over generated bodies in all dialects, with every spelling of
// a limit, prompts stored at the vendor, tools that run there, and texts of any kind.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hang } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Dialect } from '../../../core/types/canonical.ts'
import { PRICE, type Site, site, turns } from './support.ts'

const WINDOW = 200_000
const IN = PRICE.input * 1e9
const OUT = PRICE.output * 1e9
const IMAGE = 4800
const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

const windows = definePlugin({
  name: 'test-windows',
  requires: ['modelFacts'],
  setup: (gateway) => gateway.use('modelFacts').layer(() => ({ contextWindow: WINDOW })),
})

let s: Site
let account: string
beforeAll(async () => {
  s = await site({ upstream: [hang()], plugins: [windows()] })
  account = `budget:${(await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 1_000_000 })).id}`
})
afterAll(() => s.close())

interface Made {
  path: string
  body: Record<string, unknown>
}

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
const PAGE = 3000
/** Files with their pages: objects of pages, or only the count of the page tree. */
const FILES = new Map(
  [1, 7, 60, 500].flatMap((pages) => [
    [fileOf(Array.from({ length: pages }, () => '<< /Type /Page >>').join('\n')), pages] as const,
    [fileOf(`<< /Type/Pages /Kids [] /Count ${pages} >>`), pages] as const,
  ]),
)
const file = [...FILES.keys()]
/** As many bodies have no part besides the text: some targets take none. */
const none: object[][] = file.map(() => [])

function fileOf(objects: string): string {
  return Buffer.from(`%PDF-1.4\n${objects}\n%%EOF`).toString('base64')
}

/** Returns the pages of the file that the text holds. */
function pagesIn(text: string): number | undefined {
  return FILES.get(text.replace(/^data:application\/pdf;base64,/, ''))
}
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

/** Returns null when it was refused and nothing was sent. */
async function observed({ path, body }: Made): Promise<{ reserved: number; sent: Record<string, unknown> } | null> {
  const before = s.t.upstream.requests.length
  const settled = s.t.settled.length
  const leaving = new AbortController()
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  let over = false
  const asked = s.t.fetch(path, { ...init, signal: leaving.signal }).finally(() => {
    over = true
  })
  asked.catch(() => {})
  while (s.t.upstream.requests.length === before && !over) await new Promise((resolve) => setImmediate(resolve))
  const sent = s.t.upstream.requests[before]?.json
  const { reserved } = await s.balance(account)
  leaving.abort()
  await asked.catch(() => {})
  await s.t.untilSettled(settled + 1)
  await turns(10)
  return sent === undefined ? null : { reserved, sent }
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

describe('a member in two spellings', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  it.each([
    [{ generationConfig: { maxOutputTokens: 1 }, generation_config: { maxOutputTokens: 9 } }, 'generationConfig'],
    [{ generationConfig: { maxOutputTokens: 1, max_output_tokens: 9000 } }, 'maxOutputTokens'],
    [{ generation_config: { candidateCount: 1, candidate_count: 8 } }, 'candidateCount'],
    [{ generationConfig: { thinkingConfig: { thinkingBudget: 1, thinking_budget: 9 } } }, 'thinkingBudget'],
    [{ cachedContent: 'a', cached_content: 'b' }, 'cachedContent'],
    [{ systemInstruction: 'a', system_instruction: null }, 'systemInstruction'],
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

describe('a PDF in the request', () => {
  const reservedFor = async (data: string): Promise<number> => {
    const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
    const body = { model: 'messages/m', max_tokens: 1, messages: [{ role: 'user', content: [document] }] }
    return (await observed({ path: '/v1/messages', body }))?.reserved ?? 0
  }

  it('is kept back by its pages, which may be small, up to the context window', async () => {
    const small = await reservedFor(fileOf('<< /Type /Page >>\n'.repeat(40)))
    expect(small).toBeGreaterThanOrEqual(40 * PAGE * IN)
    expect(small).toBeLessThan(41 * PAGE * IN)
    const many = await reservedFor(fileOf('<< /Type /Pages /Count 9999999 >>'))
    expect(many).toBeGreaterThanOrEqual(WINDOW * IN)
    expect(many).toBeLessThan(WINDOW * IN + 100 * OUT)
  })

  it('is kept back by its bytes where they are more', async () => {
    const large = await reservedFor(fileOf(`<< /Type /Page >>${' '.repeat(100_000)}`))
    expect(large).toBeGreaterThanOrEqual(50_000 * IN)
    expect(large).toBeLessThan(51_000 * IN)
  })

  it('counts neither page trees nor names that only begin alike, and is quick on a file of slashes', async () => {
    expect(await reservedFor(fileOf('<< /Type /Pages /Kids [] >> << /Type /PageLabel >>'))).toBeLessThan(PAGE * IN)
    const began = performance.now()
    await reservedFor(fileOf('/Type '.repeat(500_000)))
    expect(performance.now() - began).toBeLessThan(5000)
  })
})

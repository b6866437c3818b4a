// For any client input, no endpoint answers 500, and every refusal is the envelope of its dialect.
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestGateway, RENDERERS, type TestGateway } from '../../adapters/testing/index.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from './support/accounts.ts'
import { ENDPOINTS, type Endpoint } from './support/endpoints.ts'
import { envelopeOf, routeDialect } from './support/envelope.ts'
import { memoryTransport } from './support/memory-transport.ts'
import { mutated, RICH } from './support/rich-requests.ts'

const errors: string[] = []
const transport = memoryTransport(({ request, ...sent }) => {
  const upstream = (Object.keys(PATHS) as Dialect[]).find((id) => request.url.includes(PATHS[id])) as Dialect
  const count = request.url.includes('count_tokens')
  sent.head(200, ['content-type', 'application/json'])
  if (count) sent.push('{"input_tokens":1}')
  else if (request.stream) sent.push(RENDERERS[upstream].frames({ text: 'fine' }).join(''))
  else sent.push(JSON.stringify(RENDERERS[upstream].json({ text: 'fine' })))
  sent.end()
})
const PATHS: Record<Dialect, string> = { chat: '/chat/', messages: '/messages', responses: '/responses', generate_content: ':' }
let made: Promise<TestGateway> | null = null
const gateway = () => {
  const keep = (_message: string, fields?: object) =>
    void errors.push(String((fields as { error?: string } | undefined)?.error ?? _message))
  const log = { debug() {}, info() {}, warn() {}, error: keep }
  made ??= createTestGateway({ ports: { transport, log } })
  return made
}
let runs = 0
const statuses = new Map<number, number>()
afterAll(async () => {
  await (await gateway()).close()
  const seen = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}:${count}`)
  process.stdout.write(`bad input: ${runs} bodies, ${seen.join(' ')}\n`)
})

const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(
    'user',
    'assistant',
    'system',
    'tool',
    'function',
    'text',
    'image_url',
    'tool_use',
    'tool_result',
    'input_text',
    'message',
    'function_call',
    'auto',
    'json_schema',
    'data:image/png;base64,AAAA',
    'http://127.0.0.1/x.png',
    '__proto__',
    'constructor',
    '{"a":',
  ),
)
/** Names of known members, because only those reach the decoders. */
const KEYS = [
  'role',
  'content',
  'type',
  'text',
  'parts',
  'tool_calls',
  'function',
  'name',
  'arguments',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'input',
  'output',
  'source',
  'image_url',
  'url',
  'data',
  'media_type',
  'mimeType',
  'inlineData',
  'functionCall',
  'functionResponse',
  'response',
  'schema',
  'parameters',
  'properties',
  'items',
  'required',
  'enum',
  '$ref',
  '$defs',
  'anyOf',
  'thinking',
  'signature',
  'summary',
  'encrypted_content',
  'cache_control',
  'format',
  'budget_tokens',
  'effort',
  'mode',
  '__proto__',
  'toString',
]
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 5 }),
  ),
}))
const MEMBERS = [
  'messages',
  'system',
  'input',
  'instructions',
  'contents',
  'systemInstruction',
  'tools',
  'tool_choice',
  'toolConfig',
  'generationConfig',
  'response_format',
  'output_config',
  'text',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'stop',
  'stop_sequences',
  'max_tokens',
  'max_output_tokens',
  'temperature',
  'top_k',
  'metadata',
  'stream_options',
  'logit_bias',
  'service_tier',
  'previous_response_id',
  'include',
  'modalities',
  'audio',
  'safetySettings',
  'parallel_tool_calls',
  'user',
  'n',
  'seed',
  'store',
  'context_management',
]
const body = fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 6 })

/** Sends a body and checks rules that no body may break. */
async function send(endpoint: Endpoint, path: string, text: string): Promise<void> {
  const t = await gateway()
  runs++
  errors.length = 0
  const response = await t.post(path, text)
  const answer = await response.text()
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  expect(errors).toEqual([])
  expect([200, 400], `${response.status}: ${answer.slice(0, 300)}`).toContain(response.status)
  if (response.status === 400) {
    const native = endpoint.name.startsWith('chat') && answer.includes('"status":"INVALID_ARGUMENT"')
    expect(envelopeOf(native ? 'generate_content' : routeDialect(endpoint), answer).type).toBe('invalid_request_error')
  } else expect(answer).not.toMatch(/"error":\{/)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
}

const numRuns = Number(process.env.FUZZ_RUNS ?? 100)

describe.each(ENDPOINTS)('$name', (endpoint) => {
  it('any members, whole or cut off', { timeout: 120_000 }, async () => {
    const cut = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 8 })
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(...DIALECTS), cut, async (more, upstream, at) => {
        const { path, body: base } = endpoint.request(`${upstream}/m`)
        const whole = JSON.stringify({ ...base, ...more })
        await send(endpoint, path, at === null ? whole : whole.slice(0, Math.floor(at * whole.length)))
      }),
      { numRuns },
    )
  })

  it('a good request with one member changed or gone', { timeout: 120_000 }, async () => {
    const where = fc.double({ min: 0, max: 0.9999, noNaN: true })
    await fc.assert(
      fc.asyncProperty(fc.option(value, { nil: undefined }), fc.constantFrom(...DIALECTS), where, async (other, upstream, at) => {
        const { path, body: base } = endpoint.request(`${upstream}/m`)
        const { model, stream } = base
        const rich = mutated(RICH[endpoint.caller], other, (n) => Math.floor(at * n)) as object
        await send(
          endpoint,
          path,
          JSON.stringify({ ...rich, ...(model === undefined ? {} : { model }), ...(stream === undefined ? {} : { stream }) }),
        )
      }),
      { numRuns },
    )
  })
})

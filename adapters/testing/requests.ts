// Builds a small request for every endpoint, in every dialect.
import type { Dialect } from '../../core/types/request/canonical.ts'

export interface TestRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  /** null: the answer is not a model's. */
  readonly dialect: Dialect | null
  readonly stream: boolean
}

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

const PROMPT = 'What is a heron?'

/** Addressed to the scripted upstream of `createTestGateway` that speaks `upstream`. */
export function requestOf(caller: Dialect, upstream: Dialect, stream: boolean): TestRequest {
  return requestFor(caller, `${upstream}/m`, stream)
}

export function requestFor(caller: Dialect, model: string, stream: boolean): TestRequest {
  const messages = [{ role: 'user', content: PROMPT }]
  const streamed = stream ? { stream } : {}
  const common = { method: 'POST', dialect: caller, stream } as const
  if (caller === 'chat') return { ...common, path: '/v1/chat/completions', body: { model, messages, ...streamed } }
  if (caller === 'messages') return { ...common, path: '/v1/messages', body: { model, messages, max_tokens: 100, ...streamed } }
  if (caller === 'responses') return { ...common, path: '/v1/responses', body: { model, input: PROMPT, ...streamed } }
  const path = `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  return { ...common, path, body: { contents: [{ role: 'user', parts: [{ text: PROMPT }] }] } }
}

export const OTHER_ENDPOINTS: readonly TestRequest[] = [
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    body: { model: 'messages/m', messages: [{ role: 'user', content: PROMPT }] },
    dialect: null,
    stream: false,
  },
  ...['/v1/models', '/v1beta/models', '/healthz', '/api/plugins'].map(
    (path): TestRequest => ({ method: 'GET', path, dialect: null, stream: false }),
  ),
]

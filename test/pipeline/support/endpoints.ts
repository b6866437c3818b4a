// Every entry of the data plane, plain and streamed, and the text that a caller reads.
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { pathAndBody } from './wire.ts'

export interface Endpoint {
  readonly name: string
  readonly caller: Dialect
  readonly stream: boolean
  readonly operation: 'chat' | 'count_tokens'
  /** `model`: the model name; for count_tokens a messages target. */
  request(model: string): { path: string; body: Record<string, unknown> }
}

const plain: Endpoint[] = (['chat', 'messages', 'responses', 'generate_content'] as const).flatMap((caller) =>
  [false, true].map((stream) => ({
    name: `${NAMES()[caller]}${stream ? ' stream' : ''}`,
    caller,
    stream,
    operation: 'chat' as const,
    request: (model) => pathAndBody(caller, model, stream),
  })),
)

function NAMES(): Record<Dialect, string> {
  return { chat: 'chat', messages: 'messages', responses: 'responses', generate_content: 'generateContent' }
}

export const ENDPOINTS: readonly Endpoint[] = [
  ...plain,
  {
    name: 'streamGenerateContent array',
    caller: 'generate_content',
    stream: true,
    operation: 'chat',
    request: (model) => pathAndBody('generate_content', model, true, true),
  },
  ...[false, true].map(
    (stream): Endpoint => ({
      name: `chat with contents${stream ? ' stream' : ''}`,
      caller: 'generate_content',
      stream,
      operation: 'chat',
      request: (model) => ({
        path: '/v1/chat/completions',
        body: { model, contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...(stream ? { stream } : {}) },
      }),
    }),
  ),
  {
    name: 'count_tokens',
    caller: 'messages',
    stream: false,
    operation: 'count_tokens',
    request: (model) => ({ path: '/v1/messages/count_tokens', body: { model, messages: [{ role: 'user', content: 'hi' }] } }),
  },
]

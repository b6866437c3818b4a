// The same question as raw HTTP: path and body by caller dialect.
import type { Dialect } from '../../../core/types/request/canonical.ts'

export interface Wire {
  path: string
  body: Record<string, unknown>
}

/** `array`: a generate-content stream without `alt=sse`. */
export function pathAndBody(caller: Dialect, model: string, stream: boolean, array = false): Wire {
  const messages = [{ role: 'user', content: 'hi' }]
  const streamed = stream ? { stream: true } : {}
  switch (caller) {
    case 'chat':
      return { path: '/v1/chat/completions', body: { model, messages, ...streamed } }
    case 'messages':
      return { path: '/v1/messages', body: { model, max_tokens: 100, messages, ...streamed } }
    case 'responses':
      return { path: '/v1/responses', body: { model, input: 'hi', ...streamed } }
    case 'generate_content': {
      const verb = stream ? `streamGenerateContent${array ? '' : '?alt=sse'}` : 'generateContent'
      return { path: `/v1beta/models/${model}:${verb}`, body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] } }
    }
  }
}

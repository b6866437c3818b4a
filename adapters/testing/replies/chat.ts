// Renders replies like OpenAI's chat-completions endpoint: every documented member, `usage: null` in each chunk, the totals in a separate
// frame. Reasoning text, which OpenAI never shows here, is sent as DeepSeek's `reasoning_content`.
import type { Finish } from '../../../core/types/request/answer.ts'
import { DEFAULT_USAGE, pieces, type Reply, type ReplyRenderer } from './reply.ts'

const ID = 'chatcmpl-CfXq2hYk7Z0vQmT4sW9uR1aB3eD5'
const CREATED = 1_795_000_000
const MODEL = 'gpt-4.1-mini-2025-04-14'
const FINGERPRINT = 'fp_8c2f1a7b3d'

const FINISH: Partial<Record<Finish, string>> = {
  length: 'length',
  context_window: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
}

const KINDS: Readonly<Record<number, { type: string; code: string | null }>> = {
  400: { type: 'invalid_request_error', code: null },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'invalid_request_error', code: 'unsupported_country_region_territory' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
  500: { type: 'server_error', code: null },
  503: { type: 'server_error', code: null },
}

export const chatReplies: ReplyRenderer = {
  json(reply) {
    return {
      id: ID,
      object: 'chat.completion',
      created: CREATED,
      model: reply.model ?? MODEL,
      choices: [{ index: 0, message: message(reply), logprobs: null, finish_reason: finishReason(reply) }],
      ...(reply.usage === null ? {} : { usage: usage(reply) }),
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
    }
  },

  frames(reply) {
    const out: string[] = []
    const push = (choices: object[], total: object | null = null) => out.push(chunk(reply, choices, total))
    const delta = (members: object, finish: string | null = null) =>
      push([{ index: 0, delta: members, logprobs: null, finish_reason: finish }])
    delta({ role: 'assistant', content: reply.toolCalls?.length && !reply.text ? null : '', refusal: null })
    for (const piece of pieces(reply.reasoning?.text ?? '', reply.chunk)) delta({ reasoning_content: piece })
    for (const piece of pieces(reply.text ?? '', reply.chunk)) delta({ content: piece })
    for (const piece of pieces(reply.refusal ?? '', reply.chunk)) delta({ refusal: piece })
    for (const [index, call] of (reply.toolCalls ?? []).entries()) {
      delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] })
      for (const piece of pieces(call.args, reply.chunk)) delta({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
    delta({}, finishReason(reply))
    if (reply.usage !== null) push([], usage(reply))
    out.push('data: [DONE]\n\n')
    return out
  },

  error(status, text, detail = {}) {
    const kind = KINDS[status] ?? { type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null }
    return { error: { message: text, type: kind.type, param: detail.param ?? null, code: detail.code ?? kind.code } }
  },

  errorFrames(text, status = 500) {
    const kind = KINDS[status] ?? { type: 'server_error', code: null }
    return [`data: ${JSON.stringify({ error: { message: text, type: kind.type, param: null, code: kind.code } })}\n\n`]
  },
}

function message(reply: Reply): object {
  const calls = reply.toolCalls ?? []
  return {
    role: 'assistant',
    content: reply.text ?? (calls.length > 0 || reply.refusal !== undefined ? null : ''),
    ...(reply.reasoning ? { reasoning_content: reply.reasoning.text } : {}),
    refusal: reply.refusal ?? null,
    annotations: [],
    ...(calls.length > 0
      ? {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.args },
          })),
        }
      : {}),
  }
}

function chunk(reply: Reply, choices: object[], total: object | null): string {
  return `data: ${JSON.stringify({
    id: ID,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: reply.model ?? MODEL,
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
    choices,
    ...(reply.usage === null ? {} : { usage: total }),
  })}\n\n`
}

function finishReason(reply: Reply): string {
  const finish = reply.finish ?? (reply.toolCalls?.length ? 'tool_calls' : 'stop')
  return FINISH[finish] ?? 'stop'
}

function usage(reply: Reply): object {
  const counts = { ...DEFAULT_USAGE, ...reply.usage }
  return {
    prompt_tokens: counts.input,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cacheRead, cache_write_tokens: counts.cacheWrite, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: counts.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

// Renders replies like Google's Gemini API: parts as increments, usage on every chunk, the finish reason on the last one. A signature is
// on the first function call, otherwise on a last empty text part.
import type { Finish } from '../../../core/types/request/answer.ts'
import { DEFAULT_USAGE, pieces, type Reply, type ReplyRenderer, type ReplyToolCall } from './reply.ts'

const RESPONSE_ID = 'mXc0aOzKJ4qXz7IPu6Gl8Q4'
const MODEL = 'gemini-3-flash'

const FINISH: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  tool_calls: 'STOP',
  pause: 'STOP',
  compaction: 'STOP',
  length: 'MAX_TOKENS',
  context_window: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  refusal: 'STOP',
  malformed_tool_call: 'MALFORMED_FUNCTION_CALL',
  error: 'OTHER',
  other: 'OTHER',
}

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export const generateContentReplies: ReplyRenderer = {
  json(reply) {
    const parts = [
      ...(reply.reasoning?.text ? [{ text: reply.reasoning.text, thought: true }] : []),
      ...answerParts(
        reply,
        [reply.text ?? '', reply.refusal ?? ''].filter((text) => text !== ''),
      ),
    ]
    return item(reply, {
      ...(parts.length > 0 ? { content: { parts, role: 'model' } } : {}),
      finishReason: finishReason(reply),
      index: 0,
      ...safety(reply),
    })
  },

  frames(reply) {
    const increments: object[] = []
    for (const text of pieces(reply.reasoning?.text ?? '', reply.chunk)) increments.push({ text, thought: true })
    for (const text of pieces(`${reply.text ?? ''}${reply.refusal ?? ''}`, reply.chunk)) increments.push({ text })
    increments.push(...calls(reply))
    const last = {
      content: { parts: [{ text: '', ...(reply.toolCalls?.length ? {} : signature(reply)) }], role: 'model' },
      finishReason: finishReason(reply),
      index: 0,
      ...safety(reply),
    }
    return [
      ...increments.map((part) => item(reply, { content: { parts: [part], role: 'model' }, index: 0 }, 0)),
      item(reply, last),
    ].map(frame)
  },

  error(status, message, detail = {}) {
    return {
      error: {
        code: status,
        message,
        status: STATUS[status] ?? 'UNKNOWN',
        ...(detail.code ? { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: detail.code }] } : {}),
      },
    }
  },

  errorFrames(message, status = 503) {
    return [frame(this.error(status, message))]
  },
}

function frame(body: object): string {
  return `data: ${JSON.stringify(body)}\r\n\r\n`
}

function item(reply: Reply, candidate: object, outputSoFar?: number): object {
  return {
    candidates: [candidate],
    ...usage(reply, outputSoFar),
    modelVersion: reply.model ?? MODEL,
    responseId: RESPONSE_ID,
  }
}

function usage(reply: Reply, outputSoFar: number | undefined): object {
  if (reply.usage === null) return {}
  const { input, cacheRead, output, reasoning } = { ...DEFAULT_USAGE, ...reply.usage }
  const visible = outputSoFar ?? output - reasoning
  const thoughts = outputSoFar === undefined ? reasoning : 0
  return {
    usageMetadata: {
      promptTokenCount: input,
      ...(visible > 0 ? { candidatesTokenCount: visible } : {}),
      totalTokenCount: input + visible + thoughts,
      ...(cacheRead > 0
        ? { cachedContentTokenCount: cacheRead, cacheTokensDetails: [{ modality: 'TEXT', tokenCount: cacheRead }] }
        : {}),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
      ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    },
  }
}

function answerParts(reply: Reply, texts: string[]): object[] {
  const parts: object[] = texts.map((text) => ({ text }))
  const last = parts.at(-1)
  if (last !== undefined && !reply.toolCalls?.length) Object.assign(last, signature(reply))
  return [...parts, ...calls(reply)]
}

function calls(reply: Reply): object[] {
  return (reply.toolCalls ?? []).map((call, index) => ({
    functionCall: { name: call.name, args: args(call), id: call.id },
    ...(index === 0 ? signature(reply) : {}),
  }))
}

function args(call: ReplyToolCall): unknown {
  return call.args === '' ? {} : JSON.parse(call.args)
}

function signature(reply: Reply): object {
  return reply.reasoning?.signature ? { thoughtSignature: reply.reasoning.signature } : {}
}

function finishReason(reply: Reply): string {
  return FINISH[reply.finish ?? 'stop']
}

function safety(reply: Reply): object {
  if (reply.finish === 'malformed_tool_call') return { finishMessage: 'Malformed function call: print(f(x))' }
  if (reply.finish !== 'content_filter') return {}
  return { safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }] }
}

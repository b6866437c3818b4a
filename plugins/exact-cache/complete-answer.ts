// Decides which answers are cached: complete ones with text, and vectors. Truncated, refused and filtered answers, and tool calls, are not.
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

type Json = Record<string, unknown>

const MAX_ANSWER_BYTES = 1024 * 1024

export function isComplete({ operation, dialect }: Pick<RequestContext, 'operation' | 'dialect'>, body: Uint8Array): boolean {
  if (body.length === 0 || body.length > MAX_ANSWER_BYTES) return false
  let answer: unknown
  try {
    answer = JSON.parse(decodeUtf8(body))
  } catch {
    return false
  }
  if (!isObject(answer) || isObject(answer.error)) return false
  if (operation === 'embeddings') return isCompleteList(answer)
  if (dialect === 'chat') return isCompleteChat(answer)
  if (dialect === 'messages') return isCompleteMessage(answer)
  return dialect === 'responses' && isCompleteResponse(answer)
}

/** OpenAI's list of vectors, or Google's one vector or list. */
function isCompleteList({ data, embedding, embeddings }: Json): boolean {
  const own = objects(data)
  if (own.length > 0) return own.every((one) => Array.isArray(one.embedding) || isText(one.embedding))
  const google = isObject(embedding) ? [embedding] : objects(embeddings)
  return google.length > 0 && google.every(({ values }) => Array.isArray(values))
}

function isCompleteChat({ choices }: Json): boolean {
  const list = objects(choices)
  return (
    list.length > 0 &&
    list.every(({ finish_reason, message }) => {
      if (finish_reason !== 'stop' || !isObject(message)) return false
      return isText(message.content) && !message.refusal && objects(message.tool_calls).length === 0 && !message.function_call
    })
  )
}

function isCompleteMessage({ stop_reason, content }: Json): boolean {
  const blocks = objects(content)
  return (
    (stop_reason === 'end_turn' || stop_reason === 'stop_sequence') &&
    blocks.some(({ type, text }) => type === 'text' && isText(text)) &&
    blocks.every(({ type }) => type === 'text' || type === 'thinking' || type === 'redacted_thinking')
  )
}

function isCompleteResponse({ status, output, incomplete_details }: Json): boolean {
  const items = objects(output)
  const parts = items.flatMap(({ type, content }) => (type === 'message' ? objects(content) : []))
  return (
    status === 'completed' &&
    !incomplete_details &&
    items.every(({ type }) => type === 'message' || type === 'reasoning') &&
    parts.some(({ text }) => isText(text)) &&
    parts.every(({ type }) => type === 'output_text')
  )
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

// Encodes a canonical response as the caller's response object. Adjacent texts of one message stay one message item.
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { Frozen, JsonObject, Part, ReasoningPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject } from '../../shared/fields.ts'
import { isUnreported, usageOrEstimate } from '../../shared/unreported-usage.ts'
import { countObject } from '../count.ts'
import { partSecret, secretText } from '../secrets.ts'
import { encodeUsage } from '../usage.ts'
import { encodeAnnotation } from './annotations.ts'
import {
  callItem,
  callPrefix,
  type ItemStatus,
  imageItem,
  logprobList,
  messageItem,
  readMark,
  reasoningItem,
  refusalContent,
  textContent,
} from './output-items.ts'
import { echoMembers, headMembers, ownId, signatureId, statusOf } from './response-object.ts'

export function encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string {
  return JSON.stringify(buildResponse(response, codec))
}

/** Returns the value that is written. */
export function buildResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): object {
  if (codec.operation === 'count_tokens') return countObject(response.usage.inputTotal)
  const choice = response.choices[0]
  const finish = choice?.finish ?? 'error'
  const refused = choice?.parts.some((part) => part.t === 'refusal') ?? false
  const { status, incomplete } = statusOf(finish, refused)
  const { status: pending, completed_at: _completed, ...own } = response.ext.responses ?? {}
  const running = typeof pending === 'string'
  const head = headMembers(
    {
      id: ownId(response.id, 'resp_', codec),
      created: response.created,
      model: response.model || codec.model,
      status: running ? pending : status,
      completed: running || status === 'failed' ? null : Math.floor(codec.now() / 1000),
      error: status === 'failed' ? { code: 'server_error', message: 'The upstream failed to answer.' } : null,
      incomplete,
      serviceTier: response.serviceTier,
    },
    codec.request,
  )
  const output = choice === undefined ? [] : outputItems(choice, status === 'completed' ? 'completed' : 'incomplete', codec)
  // An unfinished answer has no counts yet.
  const usage =
    running && isUnreported(response.usage) ? null : encodeUsage(usageOrEstimate(response.usage, choice?.parts ?? [], codec))
  return { ...echoMembers(codec), ...own, ...head, output, usage }
}

const STATED: readonly unknown[] = ['message', 'function_call', 'custom_tool_call']

interface OpenMessage {
  item: string | undefined
  phase: string | undefined
  content: JsonObject[]
}

/** `last`: the status of the last item. In a truncated answer only the last item is incomplete. */
function outputItems(choice: Frozen<Choice>, last: ItemStatus, codec: CodecContext): JsonObject[] {
  const items: JsonObject[] = []
  let open: OpenMessage | null = null
  let logprobs = logprobList(choice.logprobs)
  const close = () => {
    if (open !== null) items.push(messageItem(ownId(open.item, 'msg_', codec), open.content, 'completed', open.phase))
    open = null
  }
  for (const part of choice.parts) {
    const content = said(part, logprobs)
    if (content === null) {
      const own = partItems(part, choice, codec)
      if (own.length > 0) close()
      items.push(...own)
      continue
    }
    if (content.type === 'output_text') logprobs = []
    const { item, phase } = readMark(part.ext)
    if (open !== null && (open as OpenMessage).item !== item) close()
    open ??= { item, phase, content: [] }
    ;(open as OpenMessage).content.push(content)
  }
  close()
  const end = items.at(-1)
  if (end !== undefined && STATED.includes(end.type)) end.status = last
  return items
}

function said(part: Frozen<Part>, logprobs: ReturnType<typeof logprobList>): JsonObject | null {
  if (part.t === 'refusal') return refusalContent(part.text)
  if (part.t === 'audio' && part.transcript) return textContent(part.transcript, [], [])
  if (part.t !== 'text') return null
  const annotations = (part.annotations ?? []).map((one) => encodeAnnotation(one, part.text.length)).filter((one) => one !== null)
  return textContent(part.text, annotations, logprobs)
}

function partItems(part: Frozen<Part>, choice: Frozen<Choice>, codec: CodecContext): JsonObject[] {
  switch (part.t) {
    case 'reasoning':
      return reasoningItems(part, codec)
    case 'tool_call': {
      if (choice.finish === 'malformed_tool_call') return []
      const call = callItem(ownId(part.itemId, callPrefix(part.kind), codec), part, part.args, 'completed')
      if (part.signature === undefined) return [call]
      return [reasoningItem(signatureId(part.itemId, codec), [], secretText(part.signature)), call]
    }
    case 'image':
      return part.src.kind === 'base64' ? [imageItem(codec.id('ig_'), part.src.data)] : []
    case 'server_tool':
    case 'opaque':
      return part.dialect === 'responses' && isObject(part.raw) ? [part.raw] : []
    default:
      return []
  }
}

function reasoningItems(part: Frozen<ReasoningPart>, codec: CodecContext): JsonObject[] {
  const secret = partSecret(part, codec.caps.family)
  const summary = part.summary ?? (part.text === '' ? [] : [part.text])
  if (summary.length === 0 && secret === undefined) return []
  const item = reasoningItem(ownId(part.itemId, 'rs_', codec), summary, secret)
  // Raw reasoning with a summary can come only from this dialect.
  return [
    part.summary !== undefined && part.text !== '' ? { ...item, content: [{ type: 'reasoning_text', text: part.text }] } : item,
  ]
}

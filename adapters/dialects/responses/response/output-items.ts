// Builds the output items of an answer as objects.
import type { Ext, Frozen, Json, JsonObject, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import { inputText } from '../request/custom-tool.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export function textContent(text: string, annotations: readonly Frozen<Json>[], logprobs: readonly Frozen<Json>[]): JsonObject {
  return { type: 'output_text', text, annotations: annotations as Json[], logprobs: logprobs as Json[] }
}

export function refusalContent(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
}

export function messageItem(id: string, content: JsonObject[], status: ItemStatus, phase?: string): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }
}

export function reasoningItem(id: string, summary: readonly string[], secret: string | undefined): JsonObject {
  return {
    id,
    type: 'reasoning',
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(secret === undefined ? {} : { encrypted_content: secret }),
  }
}

/** Returns a function or custom call; `args` in the canonical form. A complete function call has arguments that parse. */
export function callItem(
  id: string,
  call: Frozen<Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'kind'>>,
  args: string,
  status: ItemStatus,
): JsonObject {
  const custom = call.kind === 'custom'
  return {
    id,
    type: custom ? 'custom_tool_call' : 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    ...(custom ? { input: inputText(args) } : { arguments: args === '' && status === 'completed' ? '{}' : args }),
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
  }
}

export function callPrefix(kind: 'function' | 'custom' | undefined): string {
  return kind === 'custom' ? 'ctc_' : 'fc_'
}

export function imageItem(id: string, result: string): JsonObject {
  return { id, type: 'image_generation_call', status: 'completed', result }
}

/** Returns logprobs in this dialect's form: a list, also from chat's `{content}`. */
export function logprobList(value: Frozen<Json> | undefined): readonly Frozen<Json>[] {
  if (Array.isArray(value)) return value
  const content = typeof value === 'object' && value !== null ? (value as JsonObject).content : undefined
  return Array.isArray(content) ? content : []
}

// Marks the upstream message item and the phase of a text. A canonical answer has neither, so this dialect's encoder rebuilds the items
// from the marks.
export function messageMark(item: string, phase: string): Ext {
  return { responses: { item, ...(phase === '' ? {} : { phase }) } }
}

/** Both are undefined for texts of other dialects. */
export function readMark(ext: Frozen<Ext> | undefined): { item: string | undefined; phase: string | undefined } {
  const { item, phase } = ext?.responses ?? {}
  return {
    item: typeof item === 'string' && item !== '' ? item : undefined,
    phase: typeof phase === 'string' ? phase : undefined,
  }
}

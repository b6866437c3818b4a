// The form of a request that its cache key covers: the caller's body, or the edited request when a plugin changed it. Two requests that a
// guardrail makes equal share an entry.
import { comparableJson } from '../../core/json/comparable-json.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/canonical.ts'

/** They say how an answer is delivered or filed, not what it is. */
const LEFT_OUT = ['stream', 'stream_options', 'metadata']

/** @param body valid JSON of an object, as the pipeline has scanned it. */
export function bodyForm(body: Uint8Array, ignoreKeys: readonly string[] = []): string {
  const text = decodeUtf8(body)
  // Parsing rounds such numbers: two bodies would share a key though they differ.
  const exact = ROUNDED.test(text) && ROUNDED.test(text.replace(STRINGS, '""')) ? text : ''
  return `${comparableJson(JSON.parse(text), new Set([...LEFT_OUT, ...ignoreKeys]))}\n${exact}`
}

/** The same members left out, under their canonical names; headers are part of the scope. */
export function editedForm(request: Frozen<CanonicalRequest>, ignoreKeys: readonly string[] = []): string {
  const { source } = request
  const members = [...LEFT_OUT, ...ignoreKeys]
  const ignored = new Set(['headers', 'includeUsage', ...members, ...members.map((name) => OTHER_NAMES[name] ?? name)])
  // A caller of messages names its user there.
  if (source === 'messages') ignored.add('endUser')
  const { ext, sampling, ...rest } = request
  const own = comparableJson(ext[source] ?? {}, ignored)
  return `${comparableJson(rest, ignored)}\n${comparableJson(sampling, ignored)}\n${comparableJson({ ...ext, [source]: null })}\n${own}`
}

const OTHER_NAMES: Readonly<Record<string, string>> = {
  user: 'endUser',
  safety_identifier: 'safetyId',
  service_tier: 'serviceTier',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxTokens',
  max_output_tokens: 'maxTokens',
  stop_sequences: 'stop',
  top_p: 'topP',
  top_k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  tool_choice: 'toolChoice',
  parallel_tool_calls: 'parallelToolCalls',
  response_format: 'output',
}

/** More digits than a double holds, or an exponent beyond its range. */
const ROUNDED = /[\d.]{16}|[eE][+-]?\d{3}/
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g

// Computes the key of a cached answer: an HMAC over the mandatory scope and the request in canonical form. The key reveals neither, and
// needs the master key.
import { comparableJson } from '../../core/json/comparable-json.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { CanonicalRequest, Dialect, Frozen, Json, Operation } from '../../core/types/request/canonical.ts'
import type { CachePolicyService, PolicyVersion } from './service.ts'

/** Everything that a key covers besides the request's form; all members are required. */
export interface Scope {
  readonly orgId: number | null
  /** null: anonymous. */
  readonly keyId: number | null
  readonly operation: Operation
  readonly dialect: Dialect
  /** Distinguishes routes of one dialect whose bodies look alike: one text or several, in Google's format. */
  readonly form: string
  /** As the caller sent it. */
  readonly model: string
  /** Headers that change a vendor's answer. */
  readonly headers: readonly (string | null)[]
  /** Versions of the configuration that changes answers. */
  readonly policy: string
  readonly seed: string
  /** True when a plugin changed the request. */
  readonly edited: boolean
}

/** @param text the request in canonical form. */
export function keyOf(mac: (data: string) => string, scope: Scope, text: string): string {
  const { orgId, keyId, operation, dialect, form, model, headers, policy, seed, edited } = scope
  const parts = [orgId, keyId === null ? 'anon' : keyId, operation, dialect, form, model, headers, policy, seed, edited]
  return mac(`${JSON.stringify(parts)}\n${text}`)
}

/** Members that affect the delivery or the records of an answer, not its content. */
const LEFT_OUT = ['stream', 'stream_options', 'metadata']

/** @param body a valid JSON object, as the pipeline has scanned it. */
export function bodyForm(body: Uint8Array, ignoreKeys: readonly string[] = []): string {
  const text = decodeUtf8(body)
  // Parsing rounds such numbers, so two different bodies would share a key.
  const exact = ROUNDED.test(text) && ROUNDED.test(text.replace(STRINGS, '""')) ? text : ''
  return `${comparableJson(JSON.parse(text), new Set([...LEFT_OUT, ...ignoreKeys]))}\n${exact}`
}

/** Leaves out the same members, under their canonical names; headers are part of the scope. */
export function editedForm(request: Frozen<CanonicalRequest>, ignoreKeys: readonly string[] = []): string {
  const { source } = request
  const members = [...LEFT_OUT, ...ignoreKeys]
  const ignored = new Set(['headers', 'includeUsage', ...members, ...members.map((name) => OTHER_NAMES[name] ?? name)])
  // In the messages dialect this member names the user.
  if (source === 'messages') ignored.add('endUser')
  const { ext, sampling, ...rest } = request
  const own = comparableJson(ext[source] ?? {}, ignored)
  return `${comparableJson(rest, ignored)}\n${comparableJson(sampling, ignored)}\n${comparableJson({ ...ext, [source]: null })}\n${own}`
}

/** The form of a changed request that is not a conversation. */
export function changedForm(request: object, ignoreKeys: readonly string[] = []): string {
  return comparableJson(request as Json, new Set([...LEFT_OUT, ...ignoreKeys]))
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

/** More digits than a double holds, or an exponent outside its range. */
const ROUNDED = /[\d.]{16}|[eE][+-]?\d{3}/
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g

// The service `cachePolicy`: versions of all configuration that changes answers, as one text in every key.
export function cachePolicy(): CachePolicyService {
  let versions: readonly (readonly [string, PolicyVersion])[] = []
  return {
    version(name, value) {
      versions = [...versions.filter(([other]) => other !== name), [name, value] as const].sort(([a], [b]) => (a < b ? -1 : 1))
    },
    of(ctx) {
      if (versions.length === 0) return ''
      const parts: [string, string | number][] = []
      for (const [name, version] of versions) {
        const value = typeof version === 'function' ? version(ctx) : version
        if (value !== null) parts.push([name, value])
      }
      return JSON.stringify(parts)
    },
  }
}

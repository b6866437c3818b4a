// The key of a cached answer: an HMAC over the scope, which is mandatory, and over the request in canonical form. The key reveals neither,
// and cannot be computed without the master key. Here too: the request's canonical form and the version of the policy.
import { comparableJson } from '../../core/json/comparable-json.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../core/types/canonical.ts'
import type { CachePolicyService, PolicyVersion } from './service.ts'

/** All of it, or there is no key. */
export interface Scope {
  readonly orgId: number | null
  /** null: anonymous. */
  readonly keyId: number | null
  readonly dialect: Dialect
  /** As the caller sent it. */
  readonly model: string
  /** Headers that change what a vendor answers. */
  readonly headers: readonly (string | null)[]
  /** Configuration that changes answers. */
  readonly policy: string
  readonly seed: string
  /** The request is what a plugin made of it. */
  readonly edited: boolean
}

/** @param form what the request is, as text. */
export function keyOf(mac: (data: string) => string, scope: Scope, form: string): string {
  const { orgId, keyId, dialect, model, headers, policy, seed, edited } = scope
  const parts = [orgId, keyId === null ? 'anon' : keyId, dialect, model, headers, policy, seed, edited]
  return mac(`${JSON.stringify(parts)}\n${form}`)
}

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

// The service `cachePolicy`: versions of what changes answers beside the request, as one text of every key.
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

// Lists a log row's columns in the order of writing, with the values of an entry. Both are in one file, so that they stay equal.
import type { SqlValue } from '../../core/db/grouped-insert.ts'
import { asCallerError } from '../../core/errors/classify.ts'
import { callsOf, spentNano, usedTokens } from '../../core/records/request-record.ts'
import { codeOf, type Entry } from './entry.ts'
import { loggedMessage, plainText, timelineJson } from './timeline.ts'

/** Columns that rows of one batch often have in common. */
export const SHARED = [
  ...['session_id', 'user_id', 'key_id', 'model', 'connection_id', 'provider', 'requested_model', 'virtual_model', 'org_id'],
  ...['key_label', 'cost_center', 'source', 'endpoint', 'wire_format', 'stream', 'status', 'error_code', 'error_message'],
  ...['cached', 'free_pool', 'attempts', 'properties_json', 'notes_json'],
] as const

export const OWN = [
  ...['request_id', 'created_at', 'latency_ms', 'ttft_ms', 'tokens_prompt', 'tokens_completion', 'tokens_cache_read'],
  ...['tokens_cache_write', 'tokens_reasoning', 'cost_nano', 'charge_nano', 'attempts_json', 'req_bytes'],
] as const

const MAX_WORD = 256
const MAX_JSON = 16_384

/** Values of a row, in the order of the columns. */
export function valuesOf(entry: Entry): SqlValue[] {
  const { outcome, attempts, properties, notes } = entry
  const { error } = outcome
  // A panel's row has the sums of all its calls.
  const tokens = usedTokens(outcome)
  const { costNano, chargeNano } = spentNano(outcome)
  return [
    word(entry.sessionId),
    word(entry.userId),
    entry.keyId,
    word(entry.model),
    word(entry.connectionId),
    word(entry.provider),
    word(entry.requestedModel),
    word(entry.virtualModel),
    entry.orgId ?? 0,
    word(entry.keyLabel),
    word(entry.costCenter),
    word(entry.source),
    word(entry.endpoint),
    entry.wireFormat,
    entry.stream ? 1 : 0,
    outcome.status,
    // The error as the caller saw it. In a stream the stored error is still the vendor's.
    error === undefined ? null : codeOf(asCallerError(error, entry.wireFormat)),
    error === undefined ? null : loggedMessage(error),
    outcome.cached === false ? null : outcome.cached,
    entry.freePool ? 1 : 0,
    callsOf(attempts),
    properties === null ? null : wholeJson(properties),
    notes === null ? null : wholeJson(notes),
    entry.requestId,
    entry.at,
    Math.round(outcome.latencyMs),
    outcome.firstByteMs === null ? null : Math.round(outcome.firstByteMs),
    whole(tokens.input),
    whole(tokens.output),
    whole(tokens.cacheRead),
    whole(tokens.cacheWrite),
    whole(tokens.reasoning),
    costNano,
    chargeNano,
    timelineJson(entry),
    entry.requestBytes,
  ]
}

function word(text: string | null): string | null {
  return text === null ? null : plainText(text, MAX_WORD)
}

/** Returns null when the text is too long, because truncated JSON is useless. */
function wholeJson(value: object): string | null {
  const json = JSON.stringify(value)
  return json.length > MAX_JSON ? null : json
}

/** An upstream's counters may be any number. */
function whole(count: number): number {
  return Number.isFinite(count) ? Math.round(count) : 0
}

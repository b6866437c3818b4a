// Lists a log row's columns in the order of writing, with the values of an entry. Both are in one file, so that they stay equal.
import { asCallerError } from '../../core/errors/classify.ts'
import { spentNano, usedTokens } from '../../core/records/request-record.ts'
import { codeOf, type Entry } from './entry.ts'
import { loggedMessage, plainText, timelineJson } from './timeline.ts'

export const COLUMNS = [
  'request_id',
  'org_id',
  'created_at',
  'source',
  'endpoint',
  'wire_format',
  'key_id',
  'key_label',
  'user_id',
  'session_id',
  'cost_center',
  'provider',
  'connection_id',
  'model',
  'requested_model',
  'virtual_model',
  'stream',
  'status',
  'error_code',
  'error_message',
  'latency_ms',
  'ttft_ms',
  'tokens_prompt',
  'tokens_completion',
  'tokens_cache_read',
  'tokens_cache_write',
  'tokens_reasoning',
  'cost_nano',
  'charge_nano',
  'cached',
  'free_pool',
  'attempts',
  'attempts_json',
  'properties_json',
  'notes_json',
  'req_bytes',
] as const

const MAX_WORD = 256
const MAX_JSON = 16_384

/** Appends the values of one row. */
export function addValues(to: unknown[], entry: Entry): void {
  const { outcome, attempts, properties, notes } = entry
  const { error } = outcome
  // A panel's row has the sums of all its calls.
  const tokens = usedTokens(outcome)
  const { costNano, chargeNano } = spentNano(outcome)
  let sent = 0
  for (const { action } of attempts) if (action !== 'skipped') sent++
  to.push(
    entry.requestId,
    entry.orgId ?? 0,
    entry.at,
    word(entry.source),
    word(entry.endpoint),
    entry.wireFormat,
    entry.keyId,
    word(entry.keyLabel),
    word(entry.userId),
    word(entry.sessionId),
    word(entry.costCenter),
    word(entry.provider),
    word(entry.connectionId),
    word(entry.model),
    word(entry.requestedModel),
    word(entry.virtualModel),
    entry.stream ? 1 : 0,
    outcome.status,
    // The error as the caller saw it. In a stream the stored error is still the vendor's.
    error === undefined ? null : codeOf(asCallerError(error, entry.wireFormat)),
    error === undefined ? null : loggedMessage(error),
    Math.round(outcome.latencyMs),
    outcome.firstByteMs === null ? null : Math.round(outcome.firstByteMs),
    whole(tokens.input),
    whole(tokens.output),
    whole(tokens.cacheRead),
    whole(tokens.cacheWrite),
    whole(tokens.reasoning),
    costNano,
    chargeNano,
    outcome.cached === false ? null : outcome.cached,
    entry.freePool ? 1 : 0,
    sent,
    timelineJson(entry),
    properties === null ? null : wholeJson(properties),
    notes === null ? null : wholeJson(notes),
    entry.requestBytes,
  )
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

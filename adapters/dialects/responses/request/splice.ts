// Edits the request and the whole answer on the byte lane: the caller's own bytes with the few edits they need.
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { DialectDriver, WireBody } from '../../../../core/types/request/dialect.ts'
import { someMember } from '../../shared/byte-search.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { fitIds } from '../../shared/long-ids.ts'
import { inspectCount, pathOf } from '../count.ts'
import { failureOf, outcome } from '../response/decode.ts'
import { completedUsage, decodeUsage } from '../usage.ts'

/** Matches ids of codec.id('rs_'); the vendor's own ids are twice as long. */
const MINTED_ID = /^"rs_[0-9A-Za-z]{24}"/
const MINTED_BYTES = 29

const FORWARDED: readonly string[] = ['openai-beta', 'idempotency-key']

export const spliceRequest: DialectDriver['spliceRequest'] = (body, codec, caller) => {
  // Do this first: reading the bytes of an edited body would join them at once.
  dropForeignReasoning(body)
  body.set('model', codec.model)
  if (codec.quirks.idLimits !== undefined) fitIds(body, codec)
  const headers: string[] = []
  for (const name of FORWARDED) {
    const value = caller.get(name)
    if (value !== null) headers.push(name, value)
  }
  return { path: pathOf(codec.operation), headers }
}

/** Never throws: an unreadable answer has no facts. */
export const inspectResponse: DialectDriver['inspectResponse'] = (body, codec) => {
  if (codec.operation === 'count_tokens') return inspectCount(body)
  const usage = body.get('usage')
  const error = failureOf({ error: body.get('error') ?? null, status: body.get('status') ?? null })
  // Matches a whole string value: inside a text its quotes would be escaped.
  const called = body.contains('output', '"function_call"') || body.contains('output', '"custom_tool_call"')
  const refused = body.contains('output', '"refusal"')
  const content = /^\[\s*\{/.test(body.peek('output') ?? '')
  const status = { status: body.get('status') ?? null, incomplete_details: body.get('incomplete_details') ?? null }
  const completed = completedUsage(usage)
  if (completed !== null) body.set('usage', completed)
  return {
    usage: decodeUsage(usage, codec.quirks),
    finish: error === null ? outcome(status, called, refused).finish : null,
    error,
    content,
  }
}

/**
 * When another dialect's upstream answered earlier turns, the conversation carries its secrets in our envelope. This upstream would
 * refuse them. These items are removed, and so are the ids of the items after them, which this upstream does not know.
 */
function dropForeignReasoning(body: WireBody): void {
  const bytes = body.slice('input')
  if (bytes === undefined) return
  const mayCarryOurs = body.mayName('encrypted_content') && body.contains('input', '"gw1.')
  if (!mayCarryOurs && !(body.contains('input', '"rs_') && someMember(bytes, 'id', isMinted))) return
  const input = body.get('input')
  if (!Array.isArray(input)) return
  let dropped = false
  const kept: Json[] = []
  for (const item of input) {
    if (isObject(item) && isForeign(item)) dropped = true
    else kept.push(dropped && isObject(item) ? withoutId(item) : item)
  }
  if (dropped) body.set('input', kept)
}

function isMinted(bytes: Uint8Array, at: number): boolean {
  return MINTED_ID.test(decodeUtf8(bytes, at, at + MINTED_BYTES))
}

/**
 * Returns whether an item holds another upstream's thoughts: in our envelope, or without a secret under an id that the gateway generated.
 */
function isForeign(item: JsonObject): boolean {
  if (item.type !== 'reasoning') return false
  const secret = loose(item.encrypted_content)
  return secret === '' ? MINTED_ID.test(JSON.stringify(loose(item.id))) : unwrapSignature(secret) !== null
}

function withoutId(item: JsonObject): JsonObject {
  const { id: _id, ...rest } = item
  return item.type === 'message' || item.type === 'function_call' || item.type === 'custom_tool_call' ? rest : item
}

// Compaction by OpenAI-like vendors. The answer passes through untouched.
import { tokenCount } from '../../../core/models/token-count.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { CompactAnswer, CompactRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { decodeUsage } from '../../dialects/responses/usage.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, missing, refuseError, scanned } from '../shared/answers.ts'
import { estimatedUsage } from '../shared/usage.ts'
import { compactTexts } from './caller.ts'

export const openaiCompact: OperationCodec<'compact'> = async (request, upstream) => {
  const body = spliced(upstream.wire, upstream.model) ?? bodyOf(request, upstream.model)
  const answer = await upstream.send({ path: '/responses/compact', body })
  const wire = scanned(answer)
  refuseError(wire.get('error'))
  if (!wire.peek('output')?.startsWith('[')) throw missing('output')
  const usage = decodeUsage(wire.get('usage'), upstream.codec.quirks) ?? estimatedUsage(compactTexts.read(request))
  return {
    usage,
    answer: () => decoded(wire.json(), usage, upstream.model),
    wire: { contentType: JSON_TYPE, body: answer.bytes },
  }
}

function spliced(wire: WireBody | null, model: string): WireBody | null {
  wire?.set('model', model)
  wire?.remove('mode')
  return wire
}

function bodyOf({ input, instructions, extra }: Frozen<CompactRequest>, model: string): JsonObject {
  return { ...(extra as JsonObject), model, input: input as Json, ...(instructions === undefined ? {} : { instructions }) }
}

function isItem(value: Json): value is JsonObject {
  return isObject(value) && (value.type === undefined || typeof value.type === 'string')
}

/** @throws GatewayError 502 for what is no item. */
function decoded(json: Frozen<JsonObject>, usage: CompactAnswer['usage'], model: string): CompactAnswer {
  const output = json.output as Json[]
  if (!output.every(isItem)) throw missing('output')
  return { id: loose(json.id as Json), created: tokenCount(json.created_at as Json) ?? 0, model, output, usage }
}

// Decodes a whole upstream answer with the same reader as a stream of one item.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { errorOf, isErrorBody } from '../errors.ts'
import { decodeCount } from '../request/count-tokens.ts'
import { noUsage } from '../usage.ts'
import { ResponseReader } from './response-reader.ts'

/** @throws GatewayError for an error in a 200 answer, or an answer without candidates. */
export function decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse {
  const wire = body.json() as JsonObject
  if (isErrorBody(wire)) throw errorOf(wire, 0, 'status')
  if (codec.operation === 'count_tokens') return decodeCount(wire, codec)
  const reader = new ResponseReader(codec)
  const response: CanonicalResponse = {
    id: '',
    created: 0,
    model: codec.model,
    choices: [],
    usage: noUsage(),
    ext: {},
  }
  const choices = new Map<number, Choice>()
  const collect = (event: StreamEvent): void => collectEvent(event, response, choices)
  reader.read(wire, () => decodeUtf8(body.bytes), collect)
  reader.close(collect)
  response.ext = reader.ext ?? {}
  if (choices.size === 0) throw GatewayError.protocol('The upstream answered without a candidate.')
  response.choices = [...choices.values()].sort((a, b) => a.index - b.index)
  return response
}

function collectEvent(event: StreamEvent, response: CanonicalResponse, choices: Map<number, Choice>): void {
  if (event.e === 'start') Object.assign(response, { id: event.id, model: event.model, created: event.created })
  else if (event.e === 'usage') Object.assign(response.usage, event.usage)
  else if ('choice' in event) {
    const choice = choices.get(event.choice) ?? { index: event.choice, parts: [], finish: 'other', nativeFinish: '' }
    choices.set(event.choice, choice)
    if (event.e === 'part_stop') choice.parts[event.part] = event.full
    else if (event.e === 'delta' && 'logprobs' in event.d) choice.logprobs = event.d.logprobs
    else if (event.e === 'finish') {
      Object.assign(choice, { finish: event.finish, nativeFinish: event.native })
      if (event.safety !== undefined) choice.safety = event.safety
      if (event.ext !== undefined) choice.ext = event.ext
    }
  }
}

// Byte lane: chat caller, chat upstream. The body stays the caller's bytes but for the model, the stream options and what
// facts about the target demand.
import type { CodecContext, WireBody } from '../../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../../core/types/ports.ts'
import { CHAT_PATH } from './encode.ts'
import { applyModelRules, bodyFields } from './model-rules.ts'
import { spliceMessages } from './splice-messages.ts'

/** Headers of the dialect itself; everything else of the caller stays here. */
const FORWARDED = ['openai-beta', 'idempotency-key']

export function spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] } {
  // Messages first: their splices rescan the body, the top-level ones below do not.
  spliceMessages(body, codec)
  const fields = bodyFields(body)
  if (!fields.hasTools() && body.raw('functions') === undefined) {
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) if (body.raw(field) !== undefined) body.remove(field)
  }
  applyModelRules(fields, codec)
  if (codec.stream) spliceStreamOptions(body, codec)
  body.set('model', codec.model)
  const headers: string[] = []
  for (const name of FORWARDED) {
    const value = caller.get(name)
    if (value !== null) headers.push(name, value)
  }
  return { path: CHAT_PATH, headers }
}

function spliceStreamOptions(body: WireBody, codec: CodecContext): void {
  const given = body.raw('stream_options')
  if (codec.quirks.rejectsStreamOptions) {
    if (given !== undefined) body.remove('stream_options')
  } else if (given === undefined || given === 'null') body.set('stream_options', { include_usage: true })
  else if (body.raw('stream_options.include_usage') !== 'true') body.set('stream_options.include_usage', true)
}

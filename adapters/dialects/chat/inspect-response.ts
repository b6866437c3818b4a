// Byte lane for whole answers: usage, finish and errors in disguise; plus the members strict clients need that the
// upstream left out. An answer that has them keeps its bytes.
import type { Json, JsonObject } from '../../../core/types/canonical.ts'
import type { Hop, WireBody } from '../../../core/types/dialect.ts'
import type { StreamFacts } from '../../../core/types/stream.ts'
import { contentOf } from './content-bytes.ts'
import { spokenContent } from './decode-answer.ts'
import { failedAnswer, noChoices } from './decode-response.ts'
import { inBandError } from './errors.ts'
import { callerFinishWord, decodeFinish } from './finish.ts'
import { isObject, text } from './read.ts'
import { decodeUsage, findUsage } from './usage.ts'

type Inspection = Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'>

export function inspectResponse(body: WireBody, hop: Hop): Inspection {
  const wire = body.json() as JsonObject
  const error = inBandError(wire, 'status')
  if (error !== null) return failed(error)
  const { choices } = wire
  if (!Array.isArray(choices) || choices.length === 0) return failed(noChoices())
  const usage = decodeUsage(findUsage(wire), hop.quirks)
  const facts: Inspection = { usage, finish: null, error: null, content: false }
  let edited = false
  for (const choice of choices) {
    if (!isObject(choice) || !isObject(choice.message)) return failed(noChoices())
    if (inspectChoice(choice, choice.message, facts)) edited = true
  }
  if (facts.error === null && edited) body.set('choices', choices)
  return facts
}

function failed(error: Inspection['error']): Inspection {
  return { usage: null, finish: null, error, content: false }
}

/** True when the parsed choice was edited. */
function inspectChoice(choice: JsonObject, message: JsonObject, facts: Inspection): boolean {
  let edited = false
  const put = (owner: JsonObject, key: string, value: Json) => {
    owner[key] = value
    edited = true
  }
  if (Array.isArray(message.content)) {
    const spoken = spokenContent(message.content)
    put(message, 'content', spoken.text)
    if (spoken.reasoning !== '') put(message, 'reasoning_content', spoken.reasoning)
  }
  if (message.content === undefined) put(message, 'content', null)
  if (message.refusal === undefined) put(message, 'refusal', null)
  if (choice.logprobs === undefined) put(choice, 'logprobs', null)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  for (const call of calls) if (typeof call.type !== 'string') put(call, 'type', isObject(call.custom) ? 'custom' : 'function')

  const native = text(choice.finish_reason)
  const word = callerFinishWord(native ?? 'stop', calls.length > 0)
  if (word !== native) put(choice, 'finish_reason', word)
  const content = contentOf(message)
  const finish = decodeFinish(native, { toolCall: calls.length > 0, refusalOnly: content.refusal && !content.text })
  facts.content ||= content.any
  if (finish === 'error') facts.error = failedAnswer(native ?? '')
  facts.finish ??= finish
  return edited
}

// Inspects whole answers on the byte lane: usage, finish and errors in 200 answers. It also adds members that strict clients need and the
// upstream omitted. A complete answer keeps its bytes.
import { editText } from '../../../../core/json/edit-text.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { inBandError } from '../errors.ts'
import { callerFinishWord, decodeFinish } from '../finish.ts'
import { isObject, text } from '../read.ts'
import { contentOf } from '../stream/content-bytes.ts'
import { callArgs } from '../stream/tool-slots.ts'
import { decodeUsage, findUsage } from '../usage.ts'
import { failedAnswer, noChoices, spokenContent } from './decode.ts'

type Inspection = Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'>

// Members that strict clients need and many vendors omit. They are inserted into the text of an answer as null: digits and order of all
// other members stay.
type NullMember = 'content' | 'refusal' | 'logprobs'

const CHOICE = '"choices":[{'
const MESSAGE = '"message":{'

/**
 * Adds the missing null members to the only choice. Returns null when their place is uncertain: other white space, or another order of
 * members.
 */
export function withNulls(text: string, missing: readonly NullMember[]): string | null {
  const choice = text.indexOf(CHOICE)
  const message = text.indexOf(MESSAGE, choice)
  if (choice === -1 || message === -1) return null
  const inChoice = choice + CHOICE.length
  const inMessage = message + MESSAGE.length
  // Quotes within strings are escaped, so both matches are members with these names.
  if (text[choice - 1] === '\\' || text[message - 1] === '\\') return null
  // No other object may begin earlier, so these are the members of the answer and of its choice.
  if (text.indexOf('{', text.indexOf('{') + 1) !== inChoice - 1 || text.indexOf('{', inChoice) !== inMessage - 1) return null
  if (/[}\]]/.test(text.slice(inChoice, message))) return null
  const comma = text[inMessage] === '}' ? '' : ','
  let choiceNulls = ''
  let messageNulls = ''
  for (const name of missing) {
    if (name === 'logprobs') choiceNulls += `"${name}":null,`
    else messageNulls += `${messageNulls === '' ? '' : ','}"${name}":null`
  }
  if (messageNulls !== '') messageNulls += comma
  return text.slice(0, inChoice) + choiceNulls + text.slice(inChoice, inMessage) + messageNulls + text.slice(inMessage)
}

export function inspectResponse(body: WireBody, codec: CodecContext): Inspection {
  const wire = body.json() as JsonObject
  const error = inBandError(wire, 'status')
  if (error !== null) return failed(error)
  const { choices } = wire
  if (!Array.isArray(choices) || choices.length === 0) return failed(noChoices())
  const usage = decodeUsage(findUsage(wire), codec.quirks)
  const facts: Inspection = { usage, finish: null, error: null, content: false }
  const changes: Changes = { missing: [], others: false }
  for (const choice of choices) {
    if (!isObject(choice) || !isObject(choice.message)) return failed(noChoices())
    inspectChoice(choice, choice.message, facts, changes, codec)
  }
  const { missing, others } = changes
  if (facts.error !== null || (!others && missing.length === 0)) return facts
  const inText = !others && choices.length === 1 && editText(body, (text) => withNulls(text, missing))
  if (!inText) body.set('choices', choices)
  return facts
}

/** Changes to the parsed choices. */
interface Changes {
  /** Members that were set to null. */
  readonly missing: NullMember[]
  others: boolean
}

type Put = (owner: JsonObject, key: string, value: Json) => void

function failed(error: Inspection['error']): Inspection {
  return { usage: null, finish: null, error, content: false }
}

function inspectChoice(choice: JsonObject, message: JsonObject, facts: Inspection, changes: Changes, codec: CodecContext): void {
  const put: Put = (owner, key, value) => {
    owner[key] = value
    changes.others = true
  }
  const putNull = (owner: JsonObject, key: NullMember) => {
    owner[key] = null
    changes.missing.push(key)
  }
  if (Array.isArray(message.content)) {
    const spoken = spokenContent(message.content)
    put(message, 'content', spoken.text)
    if (spoken.reasoning !== '') put(message, 'reasoning_content', spoken.reasoning)
  }
  if (message.content === undefined) putNull(message, 'content')
  if (message.refusal === undefined) putNull(message, 'refusal')
  if (choice.logprobs === undefined) putNull(choice, 'logprobs')
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  for (const call of calls) completeCall(call, put, codec)

  const native = text(choice.finish_reason)
  const word = callerFinishWord(native ?? 'stop', calls.length > 0)
  if (word !== native) put(choice, 'finish_reason', word)
  // The bytes are not needed here, and counting those of a long text takes long.
  const content = contentOf(message, (value) => value.length)
  const finish = decodeFinish(native, { toolCall: calls.length > 0, refusalOnly: content.refusal && !content.text })
  facts.content ||= content.any
  if (finish === 'error') facts.error = failedAnswer(native ?? '')
  facts.finish ??= finish
}

/** Completes a call as the events lane does for fragments: an id for the result, a type, arguments as text. */
function completeCall(call: JsonObject, put: Put, codec: CodecContext): void {
  const kind = isObject(call.custom) ? 'custom' : 'function'
  if (text(call.id) === undefined) put(call, 'id', codec.id('call_'))
  if (typeof call.type !== 'string') put(call, 'type', kind)
  const named = call[kind]
  const field = kind === 'custom' ? 'input' : 'arguments'
  if (isObject(named) && typeof named[field] !== 'string') put(named, field, callArgs(call))
}

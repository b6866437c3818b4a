// messages[] → leading instructions and turns. Establishes the canonical invariants: every call has an id, every result
// knows its call and its tool's name.
import { randomId } from '../../../../core/ids/ids.ts'
import type { Json, JsonObject, Message, Part, SystemBlock } from '../../../../core/types/canonical.ts'
import type { WireBody } from '../../../../core/types/dialect.ts'
import { isObject, optionalString, text, wrongType } from '../read.ts'
import { ASSISTANT_KEYS, decodeAssistant } from './decode-assistant.ts'
import { cacheMark, chatExt, decodeContent } from './decode-parts.ts'

export interface DecodedMessages {
  system: SystemBlock[]
  messages: Message[]
}

export function decodeMessages(list: readonly Json[], body: WireBody): DecodedMessages {
  const system: SystemBlock[] = []
  const messages: Message[] = []
  const calls = new CallLog()
  list.forEach((message, index) => {
    const at = `messages.${index}`
    if (!isObject(message)) throw wrongType(at, 'an object')
    const name = optionalString(message, 'name', `${at}.`)
    const label = text(name) === undefined ? {} : { name: name as string }
    const { role } = message
    if (role === 'system' || role === 'developer') {
      const parts = markedContent(message, at)
      if (messages.length === 0) {
        if (parts.length > 0) system.push({ role, parts, ...label })
      } else messages.push({ role, parts, ...label, ...chatExt(message, PLAIN_KEYS) })
    } else if (role === 'user') {
      messages.push({ role, parts: markedContent(message, at), ...label, ...chatExt(message, PLAIN_KEYS) })
    } else if (role === 'assistant') {
      const parts = decodeAssistant(message, at, body)
      calls.add(parts)
      messages.push({ role, parts, ...label, ...chatExt(message, ASSISTANT_KEYS) })
    } else if (role === 'tool' || role === 'function') {
      messages.push({ role: 'tool', parts: [toolResult(message, role, at, calls)], ...chatExt(message, TOOL_KEYS) })
    } else throw wrongType(`${at}.role`, 'one of system, developer, user, assistant, tool, function')
  })
  return { system, messages }
}

const PLAIN_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'cache_control'])
const TOOL_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'tool_call_id', 'cache_control'])

/** A cache mark of the message itself ends at its last part. */
function markedContent(message: JsonObject, at: string): Part[] {
  const parts = decodeContent(message.content, `${at}.content`)
  const cache = cacheMark(message)
  const last = parts.at(-1)
  if (cache === undefined || last === undefined || ('cache' in last && last.cache !== undefined)) return parts
  return [...parts.slice(0, -1), { ...last, cache } as Part]
}

function toolResult(message: JsonObject, role: 'tool' | 'function', at: string, calls: CallLog): Part {
  const given = text(optionalString(message, 'tool_call_id', `${at}.`))
  const toolName = text(message.name)
  const callId = given ?? calls.unanswered(role === 'function' ? toolName : undefined) ?? randomId('call_')
  const name = calls.answer(callId) ?? toolName
  const content = isObject(message.content) ? JSON.stringify(message.content) : message.content
  const cache = cacheMark(message)
  return {
    t: 'tool_result',
    callId,
    ...(name === undefined ? {} : { name }),
    parts: decodeContent(content, `${at}.content`),
    ...(cache === undefined ? {} : { cache }),
  }
}

/** The calls of the history so far, in order. */
class CallLog {
  readonly #names = new Map<string, string>()
  readonly #open: { id: string; name: string }[] = []

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.t !== 'tool_call') continue
      this.#names.set(part.id, part.name)
      this.#open.push({ id: part.id, name: part.name })
    }
  }

  /** The oldest call without a result; legacy results name the function instead of the call. */
  unanswered(name: string | undefined): string | undefined {
    return this.#open.find((call) => name === undefined || call.name === name)?.id
  }

  /** Marks the call as answered; its tool's name. */
  answer(id: string): string | undefined {
    const at = this.#open.findIndex((call) => call.id === id)
    if (at >= 0) this.#open.splice(at, 1)
    return this.#names.get(id)
  }
}

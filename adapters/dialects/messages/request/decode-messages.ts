// system and messages[] → canonical turns. Tool results become a `tool` message in front of the rest of their user turn.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Json, JsonObject, Message, Part, SystemBlock } from '../../../../core/types/canonical.ts'
import { isObject, others, textField, wrongType } from '../../shared/fields.ts'
import { type BlockReader, decodeContent } from './decode-block.ts'

export interface Conversation {
  system: SystemBlock[]
  messages: Message[]
}

export function decodeConversation(wire: JsonObject, reader: BlockReader): Conversation {
  const out: Conversation = { system: [], messages: [] }
  addSystem(out, decodeContent(wire.system, 'system', reader))
  if (!Array.isArray(wire.messages)) throw GatewayError.invalid('messages', '`messages` is required and must be an array.')
  const names = new Map<string, string>()
  for (const [index, message] of wire.messages.entries()) decodeMessage(message, `messages.${index}`, names, out, reader)
  return out
}

const MESSAGE_KEYS = new Set(['role', 'content'])

function decodeMessage(message: Json, at: string, names: Map<string, string>, out: Conversation, reader: BlockReader): void {
  if (!isObject(message)) throw wrongType(at, 'an object')
  const role = textField(message, 'role', `${at}.role`)
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw GatewayError.invalid(`${at}.role`, `\`${at}.role\` must be "user", "assistant" or "system".`)
  }
  const parts = decodeContent(message.content, `${at}.content`, reader)
  const rest = others(message, MESSAGE_KEYS)
  const ext = rest === null ? {} : { ext: { messages: rest } }
  if (role === 'assistant') {
    for (const part of parts) if (part.t === 'tool_call') names.set(part.id, part.name)
    push(out.messages, { role, parts, ...ext })
  } else if (role === 'system') {
    if (out.messages.length === 0) addSystem(out, parts)
    else push(out.messages, { role, parts, ...ext })
  } else {
    const results = parts.filter((part) => part.t === 'tool_result')
    for (const result of results) {
      const name = names.get(result.callId)
      if (name !== undefined) result.name = name
    }
    push(out.messages, { role: 'tool', parts: results })
    push(out.messages, { role, parts: parts.filter((part) => part.t !== 'tool_result'), ...ext })
  }
}

function addSystem(out: Conversation, parts: Part[]): void {
  if (parts.length > 0) out.system.push({ role: 'system', parts })
}

function push(messages: Message[], message: Message): void {
  if (message.parts.length > 0) messages.push(message)
}

// An assistant message of the history → canonical parts: reasoning, content, refusal, audio, images, tool calls.
import { randomId } from '../../../../core/ids/ids.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import type { Json, JsonObject, Part, Signature, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { isObject, optionalArray, optionalObject, optionalString, requiredString, text, wrongType } from '../read.ts'
import { unpackThoughts } from '../thought-secrets.ts'
import { decodeContent, imageSource } from './decode-parts.ts'

export const ASSISTANT_KEYS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  'images',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
])

/** `at` is the message's dotted path in the body ("messages.3"). */
export function decodeAssistant(message: JsonObject, at: string, body: WireBody): Part[] {
  const parts = decodeReasoning(message)
  parts.push(...decodeContent(message.content, `${at}.content`))
  const refusal = optionalString(message, 'refusal', `${at}.`)
  if (refusal) parts.push({ t: 'refusal', text: refusal })
  const audio = optionalObject(message, 'audio', `${at}.`)
  if (audio !== undefined) {
    const id = requiredString(audio, 'id', `${at}.audio.`)
    parts.push({
      t: 'audio',
      src: { kind: 'file', id },
      format: '',
      id,
      ...(text(audio.transcript) ? { transcript: audio.transcript as string } : {}),
    })
  }
  for (const image of Array.isArray(message.images) ? message.images : []) {
    const url = isObject(image) && isObject(image.image_url) ? text(image.image_url.url) : undefined
    if (url !== undefined) parts.push({ t: 'image', src: imageSource(url) })
  }
  ;(optionalArray(message, 'tool_calls', `${at}.`) ?? []).forEach((call, index) => {
    parts.push(decodeCall(call, `${at}.tool_calls.${index}`, body))
  })
  const legacy = optionalObject(message, 'function_call', `${at}.`)
  if (legacy !== undefined)
    parts.push({
      t: 'tool_call',
      id: randomId('call_'),
      idMinted: true,
      kind: 'function',
      ...named(legacy, `${at}.function_call`, body),
    })
  return unpackThoughts(parts)
}

/**
 * Decodes reasoning of an assistant message in a request or an answer. Vendors repeat the same text in several fields, so only the first
 * one is read.
 */
export function decodeReasoning(message: JsonObject): Part[] {
  const details =
    Array.isArray(message.reasoning_details) && message.reasoning_details.length > 0 ? message.reasoning_details : null
  const blocks = Array.isArray(message.thinking_blocks) ? message.thinking_blocks.filter(isObject) : []
  if (blocks.length > 0) return blocks.flatMap(thinkingBlock)
  const plain =
    text(message.reasoning_content) ?? text(message.reasoning) ?? (details === null ? undefined : detailsText(details))
  if (plain === undefined && details === null) return []
  return [{ t: 'reasoning', text: plain ?? '', ...(details === null ? {} : { ext: { chat: { reasoning_details: details } } }) }]
}

/** Returns the readable text of OpenRouter's `reasoning_details`. */
export function detailsText(details: readonly Json[]): string | undefined {
  return text(details.map((detail) => (isObject(detail) ? (text(detail.text) ?? text(detail.summary) ?? '') : '')).join(''))
}

/** Google's compatible endpoint puts a call's secret here. The gateway puts secrets of other dialects here too. */
export function callSignature(call: JsonObject, family: string): Signature | undefined {
  const google = isObject(call.extra_content) && isObject(call.extra_content.google) ? call.extra_content.google : {}
  const value = text(google.thought_signature)
  return value === undefined ? undefined : signatureOf(value, family)
}

function signatureOf(value: string, family: string): Signature {
  return unwrapSignature(value) ?? { dialect: 'chat', modelFamily: family, value }
}

/** Decodes LiteLLM's field. */
function thinkingBlock(block: JsonObject): Part[] {
  if (block.type === 'redacted_thinking')
    return text(block.data) ? [{ t: 'reasoning', text: '', redacted: block.data as string }] : []
  const signature = text(block.signature)
  const thinking = text(block.thinking) ?? ''
  if (thinking === '' && signature === undefined) return []
  return [{ t: 'reasoning', text: thinking, ...(signature === undefined ? {} : { signature: signatureOf(signature, '') }) }]
}

function decodeCall(call: Json, at: string, body: WireBody): ToolCallPart & { t: 'tool_call' } {
  if (!isObject(call)) throw wrongType(at, 'an object')
  const id = optionalString(call, 'id', `${at}.`)
  const signature = callSignature(call, '')
  const head = {
    t: 'tool_call' as const,
    id: id || randomId('call_'),
    idMinted: !id,
    ...(signature === undefined ? {} : { signature }),
  }
  const custom = optionalObject(call, 'custom', `${at}.`)
  if (custom !== undefined) {
    return {
      ...head,
      kind: 'custom',
      name: requiredString(custom, 'name', `${at}.custom.`),
      args: optionalString(custom, 'input', `${at}.custom.`) ?? '',
    }
  }
  return { ...head, kind: 'function', ...named(optionalObject(call, 'function', `${at}.`) ?? {}, `${at}.function`, body) }
}

function named(fn: JsonObject, at: string, body: WireBody): { name: string; args: string } {
  const name = requiredString(fn, 'name', `${at}.`)
  // Some clients send an object instead of a text; its raw text keeps the digits of big numbers.
  const args = isObject(fn.arguments)
    ? (body.raw(`${at}.arguments`) as string)
    : (optionalString(fn, 'arguments', `${at}.`) ?? '')
  return { name, args }
}

// Sets cache breakpoints in a messages body: after the tools or the system text, and after the last turn, so that the next call of the
// conversation finds everything up to here.
import { estimateText } from '../../core/models/token-estimate.ts'
import type { Json, JsonObject } from '../../core/types/request/canonical.ts'
import type { WireBody } from '../../core/types/request/dialect.ts'

/** Anthropic caches nothing shorter, with any model. Some models have four times that minimum and ignore such marks. */
const LEAST_TOKENS = 1024

/** Returns the number of breakpoints that were set. */
export function injectBreakpoints(body: WireBody, ttl: '5m' | '1h'): number {
  if (isMarked(body)) return 0
  const mark: JsonObject = ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
  const tools = estimateText(body.raw('tools') ?? '')
  const system = estimateText(body.raw('system') ?? '')
  const all = tools + system + estimateText(body.raw('messages') ?? '')
  let count = 0
  if (tools + system >= LEAST_TOKENS && (markSystem(body, mark) || markTools(body, mark))) count++
  if (all >= LEAST_TOKENS && markLastTurn(body, mark)) count++
  return count
}

/** A caller that sets any breakpoint manages caching itself. The name inside a string is escaped, so it does not match. */
function isMarked(body: WireBody): boolean {
  if (!body.mayName('cache_control')) return false
  return (
    body.raw('cache_control') !== undefined ||
    ['tools', 'system', 'messages'].some((member) => body.contains(member, '"cache_control"'))
  )
}

function markTools(body: WireBody, mark: JsonObject): boolean {
  const tools = body.get('tools')
  // A tool that is loaded later is not part of the prefix.
  if (!Array.isArray(tools) || !isObject(tools.at(-1)) || (tools.at(-1) as JsonObject).defer_loading === true) return false
  body.set(`tools.${tools.length - 1}.cache_control`, mark)
  return true
}

function markSystem(body: WireBody, mark: JsonObject): boolean {
  const system = body.get('system')
  if (typeof system === 'string' && system.trim() !== '') {
    body.set('system', [{ type: 'text', text: system, cache_control: mark }])
    return true
  }
  if (!Array.isArray(system)) return false
  const at = system.findLastIndex(takesMark)
  if (at === -1) return false
  body.set(`system.${at}.cache_control`, mark)
  return true
}

function markLastTurn(body: WireBody, mark: JsonObject): boolean {
  const messages = body.get('messages')
  if (!Array.isArray(messages)) return false
  const at = messages.findLastIndex((message) => isObject(message) && message.role === 'user')
  const content = at === -1 ? undefined : (messages[at] as JsonObject).content
  if (typeof content === 'string' && content.trim() !== '') {
    body.set(`messages.${at}.content`, [{ type: 'text', text: content, cache_control: mark }])
    return true
  }
  if (!Array.isArray(content)) return false
  const last = content.findLastIndex(takesMark)
  if (last === -1) return false
  body.set(`messages.${at}.content.${last}.cache_control`, mark)
  return true
}

/** The API refuses a mark on thoughts and empty texts. */
function takesMark(block: Json): boolean {
  if (!isObject(block) || block.type === 'thinking' || block.type === 'redacted_thinking') return false
  return block.type !== 'text' || (typeof block.text === 'string' && block.text.trim() !== '')
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

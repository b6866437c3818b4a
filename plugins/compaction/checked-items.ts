// Refuses items that the gateway cannot read, before it puts others in their place: what they hold would be lost.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import { isForeign, typeOf } from './entries.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])
/** Members of calls and results that must be strings. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  function_call: ['call_id', 'name', 'arguments'],
  custom_tool_call: ['call_id', 'name', 'input'],
  function_call_output: ['call_id'],
  custom_tool_call_output: ['call_id'],
}

/** @throws GatewayError 400 naming the item. */
export function checkItems(items: readonly Frozen<JsonObject>[]): void {
  items.forEach((item, index) => {
    checkItem(item, `input[${index}]`)
  })
}

/** @throws GatewayError 400. */
export function refuseForeign(): never {
  throw GatewayError.invalid(
    'input',
    'The input has a compaction item of another vendor, which only that vendor can read. Send the conversation without it, or let that vendor compact it with `mode: "native"`.',
    'unsupported_for_target',
  )
}

function checkItem(item: Frozen<JsonObject>, at: string): void {
  if (item.type !== undefined && typeof item.type !== 'string') throw wrong(`${at}.type`, 'a string')
  if (isForeign(item)) refuseForeign()
  const type = typeOf(item)
  if (type === 'item_reference')
    throw GatewayError.invalid(at, `\`${at}\` names an item that is not stored here. Send the item itself.`)
  if (type === 'message') {
    if (!ROLES.has(item.role)) throw wrong(`${at}.role`, '`user`, `assistant`, `system` or `developer`')
    if (!isContent(item.content)) throw wrong(`${at}.content`, 'a string or a list of parts')
  }
  for (const name of TEXTS[type] ?? []) if (typeof item[name] !== 'string') throw wrong(`${at}.${name}`, 'a string')
}

function isContent(content: Frozen<Json> | undefined): boolean {
  if (typeof content === 'string') return true
  return Array.isArray(content) && content.every((part: Frozen<Json>) => typeof part === 'object' && part !== null)
}

function wrong(at: string, wanted: string): GatewayError {
  return GatewayError.invalid(at, `\`${at}\` must be ${wanted}.`)
}

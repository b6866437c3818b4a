// Pages through the input items of a stored response.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { Ids } from './ids.ts'

export interface InputPage {
  object: 'list'
  data: JsonObject[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  reasoning: 'rs_',
}

export function inputPage(items: readonly JsonObject[], ids: Ids, token: string, query: string): InputPage {
  return pageOf(
    items.map((item, index) => shownItem(item, ids, token, index)),
    query,
  )
}

/** Returns the page that `limit`, `order` and `after` name; the newest item is first unless `order=asc`. @throws GatewayError 400 */
export function pageOf(items: readonly JsonObject[], query: string): InputPage {
  const asked = new URLSearchParams(query)
  const limit = Number(asked.get('limit') ?? DEFAULT_LIMIT)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw GatewayError.invalid('limit', `\`limit\` must be a whole number from 1 to ${MAX_LIMIT}.`)
  const order = asked.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw GatewayError.invalid('order', '`order` must be `asc` or `desc`.')
  const all = [...items]
  if (order === 'desc') all.reverse()
  const after = asked.get('after')
  const before = after === null ? -1 : all.findIndex(({ id }) => id === after)
  if (after !== null && before === -1) throw GatewayError.invalid('after', '`after` must be the id of an item of this list.')
  const data = all.slice(before + 1, before + 1 + limit)
  const idAt = (index: number): string | null => (data.at(index)?.id as string | undefined) ?? null
  return { object: 'list', data, first_id: idAt(0), last_id: idAt(-1), has_more: before + 1 + limit < all.length }
}

/** An item that only this dialect has keeps its own id. */
function shownItem(item: JsonObject, ids: Ids, token: string, index: number): JsonObject {
  const prefix = PREFIXES[String(item.type)]
  if (prefix === undefined) return typeof item.id === 'string' ? item : { id: ids.input('item_', token, index), ...item }
  return { id: ids.input(prefix, token, index), ...(prefix === 'rs_' ? {} : { status: 'completed' }), ...item }
}

/** Items with ids and, where the dialect has one, a status. */
export function withItemIds(items: readonly JsonObject[]): JsonObject[] {
  return items.map((item) => {
    const prefix = PREFIXES[String(item.type)] ?? 'item_'
    return { id: randomId(prefix), ...(prefix === 'rs_' || prefix === 'item_' ? {} : { status: 'completed' }), ...item }
  })
}

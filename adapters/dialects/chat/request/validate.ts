// Validates a chat body in the order of the table; the first violation is reported, and null counts as omitted. It reads the scanned body
// member by member and parses nothing large.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'

/** @throws GatewayError 400 with `param` set. A body in generate-content style (`contents` without `messages`) is not checked. */
export function validateChat(body: WireBody): void {
  if (speaksGenerateContent(body)) return
  const messages = body.peek('messages')
  if (messages === undefined || messages === 'null') throw violation('messages', 'is required')
  if (messages[0] !== '[' || isEmptyArray(messages)) throw violation('messages', 'must be a non-empty array')
  checkRange(body, 'temperature', 0, 2)
  checkRange(body, 'top_p', 0, 1)
  checkCount(body, 'n')
  checkCount(body, 'max_tokens')
  checkCount(body, 'max_completion_tokens')
}

/** Returns true when `contents` is an array and `messages` is absent or null: a generate-content request on the chat route. */
export function speaksGenerateContent(body: WireBody): boolean {
  const messages = body.peek('messages')
  if (messages !== undefined && messages !== 'null') return false
  return body.peek('contents')?.[0] === '['
}

export function isEmptyArray(raw: string): boolean {
  return raw.length < 64 && /^\[\s*\]$/.test(raw)
}

function checkRange(body: WireBody, param: string, low: number, high: number): void {
  const value = numberAt(body, param)
  if (value === undefined) return
  if (value === null || value < low || value > high) throw violation(param, `must be a number between ${low} and ${high}`)
}

function checkCount(body: WireBody, param: string): void {
  const value = numberAt(body, param)
  if (value === undefined) return
  if (value === null || !Number.isInteger(value) || value < 1) throw violation(param, 'must be an integer of at least 1')
}

/** Returns undefined = omitted, null = not a number. */
function numberAt(body: WireBody, param: string): number | null | undefined {
  const raw = body.raw(param)
  if (raw === undefined || raw === 'null') return undefined
  // JSON numbers start with a digit or a minus; any other first character means another type.
  return raw[0] === '-' || ((raw[0] as string) <= '9' && (raw[0] as string) >= '0') ? Number(raw) : null
}

function violation(param: string, rule: string): GatewayError {
  return GatewayError.invalid(param, `\`${param}\` ${rule}.`)
}

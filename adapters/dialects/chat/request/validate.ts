// The table in its order, first violation wins, null = omitted. Reads the scanned body
// member by member; nothing large is parsed.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { WireBody } from '../../../../core/types/dialect.ts'

/** @throws GatewayError 400 with `param` set. A body in generate-content style (no messages, but contents) is not judged. */
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

/** `contents` is an array and `messages` is absent or null: the caller speaks generate-content on the chat route. */
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

/** undefined = omitted, null = not a number. */
function numberAt(body: WireBody, param: string): number | null | undefined {
  const raw = body.raw(param)
  if (raw === undefined || raw === 'null') return undefined
  // JSON numbers start with a digit or a minus; everything else is another type.
  return raw[0] === '-' || ((raw[0] as string) <= '9' && (raw[0] as string) >= '0') ? Number(raw) : null
}

function violation(param: string, rule: string): GatewayError {
  return GatewayError.invalid(param, `\`${param}\` ${rule}.`)
}

// Converts a framework's headers to the flat list that the gateway reads.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { headerLines, SINGLE_HEADERS } from './exchange.ts'

/** Returns `[name, value, …]`. A header that must be single and was sent twice stays twice; Node itself keeps only the first. */
export function headerList(req: IncomingMessage, headers: IncomingHttpHeaders): string[] {
  const list: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue
    for (const each of Array.isArray(value) ? value : [value]) list.push(name, each)
    if (SINGLE_HEADERS.includes(name.toLowerCase()) && headerLines(req, name.toLowerCase()) > 1) list.push(name, String(value))
  }
  return list
}

// Sends POSTs through the outbound guard: webhooks and alerts. A connection serves one request, so that each request dials, and checks
// the address, again.
import type { OutboundPost } from '../../core/types/ports/ports.ts'
import { type GuardOptions, guardedAgent } from './outbound-guard.ts'
import { checkOutboundUrl } from './outbound-url.ts'
import { Agent } from './undici-parts.ts'

/** Limit of the answer's body; only its status is used. */
const MAX_BYTES = 4096
const CONNECT_MS = 15_000

export function outboundPost(options: GuardOptions = {}): OutboundPost {
  const dispatcher = guardedAgent(options, { connectMs: CONNECT_MS, answerMs: 0 })
  const plain = new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: 0, bodyTimeout: 0 })
  return async ({ url, headers, body, signal, inward = false }) => {
    const to = inward ? new URL(url) : checkOutboundUrl(url, 'url')
    const { request } = await import('undici/index.js')
    const answer = await request(to, {
      dispatcher: inward ? plain : dispatcher,
      method: 'POST',
      headers,
      body,
      signal,
      reset: true,
    })
    // Read a short answer to its end, so that the receiver's write does not fail. A failure here does not change the status.
    await answer.body.dump({ limit: MAX_BYTES, signal }).catch(() => {})
    return { status: answer.statusCode }
  }
}

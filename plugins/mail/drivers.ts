// Drivers that deliver a letter: a transactional HTTP API, or the log. Only the log may show a letter's link.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DirectCalls } from '../../core/services.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { Logger } from '../../core/types/ports/ports.ts'
import { VERSION } from '../../core/version.ts'
import { domainOf } from './address.ts'
import type { Rendered } from './rendered.ts'

export interface Mail extends Rendered {
  /** The id in the outbox. The API drops a second letter with the same id. */
  readonly id: string
  readonly kind: string
  readonly to: string
  readonly link: string | null
}

export interface Attempt {
  /** `retry`: it may succeed later. `never`: the API will refuse this letter always. */
  readonly result: 'sent' | 'retry' | 'never'
  /** HTTP status; null: there was no answer. */
  readonly status: number | null
  /** The gateway's own text, free of addresses and of the answer. */
  readonly error: string | null
  /** How long the API asks to wait before the next letter, ms. */
  readonly waitMs?: number
}

export interface Driver {
  readonly name: 'api' | 'log'
  /** @throws the reason of `signal` when it is aborted; no other error. */
  deliver(mail: Mail, signal: AbortSignal): Promise<Attempt>
}

export function logDriver(log: Logger): Driver {
  return {
    name: 'log',
    async deliver({ kind, to, subject, link }) {
      log.info('mail.logged', {
        kind,
        to,
        subject,
        ...(link !== null && { link }),
        hint: 'Set GATEWAY_EMAIL_API_KEY, GATEWAY_EMAIL_FROM and GATEWAY_PUBLIC_URL to send mail.',
      })
      return { result: 'sent', status: null, error: null }
    },
  }
}

const TIMEOUT_MS = 15_000
const MAX_ANSWER = 64 * 1024
/** The longest wait that the API may ask for. */
const MAX_WAIT_MS = 3_600_000

export interface ApiOptions {
  readonly apiKey: string
  readonly from: string
  readonly calls: Pick<DirectCalls, 'viaProxy'>
  /** Epoch ms. */
  readonly now: () => number
  readonly url: () => string
  readonly proxyUrl: string | null
}

/** JSON in the shape of Resend: from, to, subject, html, text. */
export function apiDriver({ apiKey, from, calls, now, url, proxyUrl }: ApiOptions): Driver {
  return {
    name: 'api',
    async deliver({ id, to, subject, html, text }, signal) {
      const headers = [
        ...['content-type', 'application/json', 'authorization', `Bearer ${apiKey}`],
        ...['user-agent', `gateway-mail/${VERSION}`, 'idempotency-key', id],
      ]
      const body = encodeUtf8(JSON.stringify({ from, to: [to], subject, html, text }))
      try {
        const answer = await calls.viaProxy(proxyUrl, url(), TIMEOUT_MS, { headers, body, maxBytes: MAX_ANSWER, signal })
        const wait = retryAfter(answer.headers.get('retry-after'), now())
        return { ...judged(answer.status, domainOf(to)), ...(wait !== null && { waitMs: wait }) }
      } catch (error) {
        signal.throwIfAborted()
        const code = GatewayError.is(error) ? error.code : null
        return { result: 'retry', status: null, error: `The e-mail API did not answer${code === null ? '' : ` (${code})`}.` }
      }
    },
  }
}

/** 401 and 403 heal when the operator corrects the key or verifies the sender's domain. */
const HEALS = new Set([401, 403, 404, 408, 409, 425, 429])

function judged(status: number, domain: string): Attempt {
  if (status >= 200 && status < 300) return { result: 'sent', status, error: null }
  const heals = status < 400 || status >= 500 || HEALS.has(status)
  return { result: heals ? 'retry' : 'never', status, error: `${reason(status)} (${status}; to an address at ${domain})` }
}

function reason(status: number): string {
  if (status < 400) return 'The e-mail API answered with a redirect; correct the setting email.api_url'
  if (status === 401 || status === 403)
    return 'The e-mail API refused the key or the sender; check GATEWAY_EMAIL_API_KEY and GATEWAY_EMAIL_FROM'
  if (status === 404) return 'The e-mail API has no such path; check the setting email.api_url'
  if (status === 429) return 'The e-mail API limits the rate'
  return status >= 500 ? 'The e-mail API failed' : 'The e-mail API refused the letter'
}

/** Seconds, or an HTTP date. */
function retryAfter(text: string | null, now: number): number | null {
  if (text === null) return null
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_WAIT_MS) : null
}

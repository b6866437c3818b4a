// Makes one attempt: formats the body for the endpoint, signs, sends and checks the answer. It is never sent unsigned.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { bytesToBase64, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { VERSION } from '../../../core/version.ts'
import type { Envelope } from '../queue.ts'
import { type UrlRules, urlComplaint } from '../resource.ts'
import { chatText } from './formats.ts'
import { secretBytes, secretPlace } from './secret.ts'
import type { Job } from './store.ts'

export interface Sent {
  readonly ok: boolean
  /** HTTP status of the answer; null: there was none. */
  readonly status: number | null
  /** The gateway's own text: it contains no address and nothing of the answer. */
  readonly error: string | null
}

/** @param stop when the caller aborts it, the promise rejects; it rejects in no other case. */
export type Send = (job: Job, stop: AbortController) => Promise<Sent>

/** ms from the dial to the end of the answer. */
const TIMEOUT_MS = 15_000

/** Returns one `v1,<base64>` for each secret, separated by spaces. `timestamp`: unix seconds of this attempt. */
export async function signatures(secrets: readonly string[], id: string, timestamp: number, body: string): Promise<string> {
  const signed = encodeUtf8(`${id}.${timestamp}.${body}`)
  return (await Promise.all(secrets.map((secret) => signature(secret, signed)))).join(' ')
}

async function signature(secret: string, signed: Uint8Array): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secretBytes(secret) as BufferSource, algorithm, false, ['sign'])
  return `v1,${bytesToBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed as BufferSource)))}`
}

export function sender(gateway: PluginGateway, rules: UrlRules): Send {
  const { clock, vault } = gateway
  const post = gateway.use('outboundPost')

  const secretsOf = async (job: Job, id: number): Promise<string[]> => {
    const orgId = job.org_id === 0 ? null : job.org_id
    const { secret, previous_secret: previous, previous_secret_until: until } = job
    if (secret === null) throw new Error('no secret')
    const secrets = [await vault.open(secret, secretPlace(id, orgId))]
    if (previous !== null && until !== null && clock.now() < until)
      secrets.push(await vault.open(previous, secretPlace(id, orgId, 'previous_secret')))
    return secrets
  }

  return async (job, stop) => {
    const { url, format, endpoint_row: id } = job
    if (url === null || format === null || id === null) return failed('The endpoint was removed.')
    const complaint = urlComplaint(url, rules)
    if (complaint !== null) return failed(`The URL ${complaint}.`)
    const secrets = await secretsOf(job, id).catch(() => null)
    if (secrets === null) return failed('The signing secret cannot be opened; rotate it.')
    const body = format === 'standard' ? job.body : chatText(format, JSON.parse(job.body) as Envelope)
    const timestamp = Math.floor(clock.now() / 1000)
    const headers = {
      'content-type': 'application/json',
      'user-agent': `gateway-webhooks/${VERSION}`,
      'webhook-id': job.event_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': await signatures(secrets, job.event_id, timestamp, body),
    }
    let late = false
    const timer = clock.timer(
      TIMEOUT_MS,
      () => {
        late = true
        stop.abort()
      },
      true,
    )
    try {
      const { status } = await post({ url, headers, body, signal: stop.signal })
      if (status >= 200 && status < 300) return { ok: true, status, error: null }
      const moved = status >= 300 && status < 400
      return failed(`The endpoint answered ${status}${moved ? ', and redirects are not followed' : ''}.`, status)
    } catch (error) {
      if (late) return failed(`There was no answer within ${TIMEOUT_MS / 1000} s.`)
      if (stop.signal.aborted) throw error
      return failed(GatewayError.is(error) ? error.message : unreachable(error))
    } finally {
      timer.cancel()
    }
  }
}

function failed(error: string, status: number | null = null): Sent {
  return { ok: false, status, error }
}

/** Network errors contain addresses. */
function unreachable(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return `The endpoint could not be reached${typeof code === 'string' ? ` (${code.slice(0, 60)})` : ''}.`
}

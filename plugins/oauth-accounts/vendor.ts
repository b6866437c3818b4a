// Calls to a vendor's OAuth endpoints: forms out, JSON back, limited in time and size, without redirects.
import { z } from 'zod'
import type { DirectCalls } from '../../core/services.ts'
import { base64Encode, decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import { isLoopback, type OAuthClient } from './clients.ts'
import { standardCode, VendorRefusal } from './vendor-error.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 512 * 1024

/** Ten years: a longer time is no time that a database or a timer holds. */
const MAX_SECONDS = 315_360_000
const seconds = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d+(?:\.\d+)?$/)
      .transform(Number),
  ])
  .transform((given) => Math.max(0, Math.min(MAX_SECONDS, given)))
const tokenAnswer = z.object({
  access_token: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/),
  refresh_token: z.string().min(1).optional(),
  expires_in: seconds.optional(),
  scope: z.string().optional(),
  id_token: z.string().optional(),
  plan: z.string().max(100).optional(),
})
export type TokenAnswer = z.output<typeof tokenAnswer>

const deviceAnswer = z.object({
  device_code: z.string().min(1),
  user_code: z.string().min(1).max(100),
  verification_uri: z.url(),
  verification_uri_complete: z.url().optional(),
  expires_in: seconds,
  interval: seconds.optional(),
})
export type DeviceAnswer = z.output<typeof deviceAnswer>

export interface Vendor {
  /** @throws VendorRefusal */
  token(client: OAuthClient, form: Readonly<Record<string, string>>): Promise<TokenAnswer>
  device(client: OAuthClient): Promise<DeviceAnswer>
  userinfo(client: OAuthClient, accessToken: string): Promise<Readonly<Record<string, unknown>>>
  revoke(client: OAuthClient, token: string, kind: 'access_token' | 'refresh_token'): Promise<void>
}

export function vendorOf(calls: Pick<DirectCalls, 'viaProxy'>, outboundProxy: string | null): Vendor {
  const send = async (url: string, headers: readonly string[], form: URLSearchParams | null): Promise<Answer> => {
    const proxy = isLoopback(new URL(url).hostname) ? null : outboundProxy
    const options = { headers, maxBytes: MAX_BYTES, ...(form === null ? {} : { body: encodeUtf8(form.toString()) }) }
    const { status, body } = await calls.viaProxy(proxy, url, TIMEOUT_MS, options).catch(() => {
      // The error's text may quote the address, and the address nothing secret; still nothing of it is needed.
      throw new VendorRefusal('unavailable')
    })
    return { status, json: parsed(body) }
  }
  const post = async <T>(client: OAuthClient, url: string, given: Readonly<Record<string, string>>, answer: z.ZodType<T>) => {
    const { form, headers } = authenticated(client, given)
    const { status, json } = await send(url, headers, form)
    // Some vendors send errors with status 200.
    const error = z.object({ error: z.string() }).safeParse(json).data?.error
    if (status === 429 || status >= 500) throw new VendorRefusal(error === 'server_error' ? error : 'unavailable')
    if (status !== 200 || error !== undefined) throw new VendorRefusal(standardCode(error))
    const found = answer.safeParse(json)
    if (!found.success) throw new VendorRefusal('unknown_error')
    return found.data
  }
  return {
    token: (client, form) => post(client, client.tokenUrl, form, tokenAnswer),
    device: (client) =>
      post(
        client,
        client.deviceUrl as string,
        client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') },
        deviceAnswer,
      ),
    async userinfo({ userinfoUrl }, accessToken) {
      if (userinfoUrl === undefined) return {}
      const { status, json } = await send(userinfoUrl, ['authorization', `Bearer ${accessToken}`], null)
      const claims = z.record(z.string(), z.unknown()).safeParse(json)
      return status === 200 && claims.success ? claims.data : {}
    },
    async revoke(client, token, kind) {
      const { revocationUrl } = client
      if (revocationUrl === undefined) return
      const { form, headers } = authenticated(client, { token, token_type_hint: kind })
      await send(revocationUrl, headers, form)
    },
  }
}

interface Answer {
  readonly status: number
  readonly json: unknown
}

function authenticated({ clientId, clientSecret, clientAuth }: OAuthClient, given: Readonly<Record<string, string>>) {
  const form = new URLSearchParams({ ...given })
  const headers = ['content-type', 'application/x-www-form-urlencoded']
  if (clientSecret !== undefined && clientAuth === 'basic')
    headers.push('authorization', `Basic ${base64Encode(`${formed(clientId)}:${formed(clientSecret)}`)}`)
  else form.set('client_id', clientId)
  if (clientSecret !== undefined && clientAuth === 'post') form.set('client_secret', clientSecret)
  return { form, headers }
}

/** Credentials in the header are form-encoded first. */
function formed(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2)
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(body))
  } catch {
    return undefined
  }
}

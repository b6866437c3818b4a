// A cloud's credential: the key of the connection is a plain key, or JSON text with the parts of a longer-lived identity.
import { z } from 'zod'
import { jsonCredential } from '../../../core/credentials.ts'
import type { OfferHost } from '../../../core/types/plugin/offer-host.ts'

/** Returns true for JSON text. A plain key never begins with a brace. */
export function isJson(secret: string | null): secret is string {
  return secret?.trimStart().startsWith('{') ?? false
}

export function parts<T>(schema: z.ZodType<T>): (secret: string | null) => T {
  return jsonCredential(schema)
}

const tokenAnswer = z.object({
  access_token: z.string().min(1),
  /** A life that is no number counts as an hour. Otherwise the token would never be renewed. */
  expires_in: z.union([z.number(), z.string().transform(Number).pipe(z.number())]).catch(3600),
})

const TIMEOUT_MS = 10_000

/** Asks a token endpoint (RFC 6749). The result's time is in the clock of the gateway. */
export async function tokenFrom(
  { clock, http, internalHttp, profile }: OfferHost,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<{ value: string; expiresAt: number }> {
  // The address may come from a tenant's key, so that only the machine's own user may name one inside the network.
  const inward = profile === 'local' && /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/.test(url)
  const answer = await (inward ? internalHttp : http)<unknown>(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ ...form }).toString(),
    timeout: TIMEOUT_MS,
    retry: 0,
    redirect: 'manual',
  })
  const { access_token, expires_in } = tokenAnswer.parse(answer)
  return { value: access_token, expiresAt: clock.now() + expires_in * 1000 }
}

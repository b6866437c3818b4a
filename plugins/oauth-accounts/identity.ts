// Reads who signed in: from the ID token, which came straight from the token endpoint, or from the userinfo endpoint.
import { z } from 'zod'
import { base64Decode } from '../../core/text/bytes.ts'
import type { OAuthClient } from './clients.ts'
import type { TokenAnswer, Vendor } from './vendor.ts'

export interface Identity {
  readonly subject: string | null
  readonly email: string | null
  readonly displayName: string | null
  readonly plan: string | null
}

const word = z.string().min(1).max(320).nullable().catch(null)
const claims = z.object({ sub: word.default(null), email: word.default(null), name: word.default(null) })

export async function identityOf(vendor: Vendor, client: OAuthClient, answer: TokenAnswer): Promise<Identity> {
  const own = claims.safeParse(answer.id_token === undefined ? {} : payloadOf(answer.id_token)).data ?? claims.parse({})
  // Without it the account still works, and is only named less well.
  const more = await vendor.userinfo(client, answer.access_token).catch(() => ({}))
  const asked = claims.safeParse(more).data ?? claims.parse({})
  return {
    subject: own.sub ?? asked.sub,
    email: own.email ?? asked.email,
    displayName: own.name ?? asked.name,
    plan: answer.plan ?? null,
  }
}

function payloadOf(token: string): unknown {
  const part = token.split('.')[1] ?? ''
  try {
    return JSON.parse(base64Decode(part.replaceAll('-', '+').replaceAll('_', '/')) ?? '{}')
  } catch {
    return {}
  }
}

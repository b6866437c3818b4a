// A sign-in under way: its state, nonce and PKCE verifier are in an encrypted cookie, so that any replica can finish it.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { randomId } from '../../core/ids/ids.ts'
import { sameDigest } from '../../core/ids/same-digest.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

const SECONDS = 600
const payload = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  issuer: z.string(),
  redirectUri: z.string(),
})
export type Pending = z.output<typeof payload>

export interface PendingSignIns {
  /** Returns the value of `set-cookie`. */
  cookie(pending: Pending): Promise<string>
  /** Returns the sign-in that this browser began; null: it began none with this state, or too long ago. */
  open(cookies: string | null, state: string): Promise<Pending | null>
  /** Returns the value of `set-cookie` that removes it. */
  cleared(state: string): string
}

/** @param secure the gateway is reached over https: another host of the domain then cannot plant the cookie. */
export function pendingSignIns(key: Uint8Array, clock: Pick<Clock, 'now'>, secure: boolean): PendingSignIns {
  // Several tabs may sign in at the same time.
  const name = (state: string): string => `${secure ? '__Host-' : ''}oidc-${state.slice(0, 16)}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return {
    async cookie(pending) {
      const { EncryptJWT } = await import('jose')
      const now = Math.floor(clock.now() / 1000)
      const sealed = await new EncryptJWT(pending)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuedAt(now)
        .setExpirationTime(now + SECONDS)
        .encrypt(key)
      return `${name(pending.state)}=${sealed}; Max-Age=${SECONDS}; ${attributes}`
    },
    async open(cookies, state) {
      const sealed = cookieValue(cookies, name(state))
      if (sealed === null) return null
      const options = {
        currentDate: new Date(clock.now()),
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      }
      const { jwtDecrypt } = await import('jose')
      const claims = await jwtDecrypt(sealed, key, options).then(
        (opened) => opened.payload,
        () => null,
      )
      const found = payload.safeParse(claims)
      return found.success && sameDigest(found.data.state, state) ? found.data : null
    },
    cleared: (state) => `${name(state)}=; Max-Age=0; ${attributes}`,
  }
}

function cookieValue(cookies: string | null, name: string): string | null {
  for (const part of (cookies ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return null
}

/** 256 random bits in characters that a URL may have. */
export function randomText(): string {
  return randomId('', 43)
}

/** The S256 challenge of a PKCE verifier. */
export function challengeOf(verifier: string): Promise<string> {
  return digest(verifier)
}

/** SHA-256 in base64url. */
async function digest(text: string): Promise<string> {
  const { base64url } = await import('jose')
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

/** Returns true the first time, over all replicas. */
export async function firstUse(db: Db, kind: 'state' | 'code', text: string, now: number): Promise<boolean> {
  const hash = await digest(`${kind}:${text}`)
  const { changes } = await db.run(
    sql`INSERT INTO oidc_used (hash, expires_at) VALUES (${hash}, ${now + 2 * SECONDS * 1000}) ON CONFLICT DO NOTHING`,
  )
  return changes === 1
}

export async function forgetUsed(db: Db, now: number): Promise<void> {
  await db.run(sql`DELETE FROM oidc_used WHERE expires_at < ${now}`)
}

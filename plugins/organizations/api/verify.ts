// Verification of addresses and new passwords: /api/auth/verify, /verify/resend, /forgot, /reset. The letters go out after the answer, so
// that neither the answer nor its duration shows whether an account exists. A GET changes nothing: programs that check mail follow links.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Peer } from '../../../core/types/ports/ports.ts'
import { actorOf } from '../accounts.ts'
import { resetLetter, verifyLetter } from '../letters.ts'
import type { People } from '../people.ts'
import { endSessions, markVerified, setPassword, type TokenKind, takeToken, tokenIsGood } from '../users.ts'
import { email, password, token } from './schemas.ts'
import { refuseWithoutPasswords } from './sign-up.ts'

const HOUR_MS = 3_600_000
/** More letters to one address are silently left out. */
const LETTERS_PER_HOUR = 5
const MINUTE_MS = 60_000
/** Letters that callers without an account can cause, for known and unknown addresses together; above it all are left out. */
const LETTERS_PER_MINUTE = 300
const NOBODY = { id: 0, email: 'nobody@example.invalid' }

const sent = z.strictObject({ sent: z.literal(true) })
const verified = z.strictObject({ verified: z.literal(true) })

export function verifyRoutes(people: People, publicUrl: string | null): void {
  const { gateway } = people

  const mayWrite = async (name: string, limit: number, ms: number): Promise<boolean> =>
    (await gateway.counters.debit(`letters:${name}`, 1, ms)).total <= limit

  /** Writes after the answer. Without a reader it does the same work and sends nothing, because a next request could notice a difference. */
  const write = (kind: TokenKind, reader: { id: number; email: string } | undefined, letterOf: typeof verifyLetter): void =>
    people.later(async () => {
      if (!(await mayWrite('all', LETTERS_PER_MINUTE, MINUTE_MS))) return
      const allowed = await mayWrite(`${kind}:${reader?.email ?? ''}`, LETTERS_PER_HOUR, HOUR_MS)
      const to = allowed && reader !== undefined ? reader : NOBODY
      const letter = letterOf(to.email, await people.oneTime(kind, to.id))
      await people.letters.send(to === NOBODY ? { ...letter, kind: 'none' } : letter)
    })

  /** @throws GatewayError 400 */
  const verify = async (given: string, peer: Peer): Promise<void> => {
    const mac = people.mac(given)
    if (!(await tokenIsGood(gateway.db, 'verify', mac, people.now()))) throw badToken()
    const userId = await people.write(async (db) => {
      const id = await takeToken(db, 'verify', mac, people.now())
      if (id !== null) await markVerified(db, id, people.now())
      return id
    })
    if (userId === null) throw badToken()
    await people.record({ orgId: null, actor: actorOf(userId), action: 'user.verify', target: String(userId), peer })
  }

  gateway.api({
    method: 'GET',
    path: '/api/auth/verify',
    summary: 'Says whether a verification token is good, without using it up. A browser is sent to the page that uses it.',
    role: 'public',
    query: z.object({ token }),
    response: z.strictObject({ verified: z.literal(false), valid: z.literal(true) }),
    async handler({ query, request }) {
      if ((request.headers.get('accept') ?? '').includes('text/html')) {
        const location = `${publicUrl?.replace(/\/$/, '') ?? ''}/verify#token=${encodeURIComponent(query.token)}`
        const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
        return new Response(null, { status: 302, headers })
      }
      if (!(await tokenIsGood(gateway.db, 'verify', people.mac(query.token), people.now()))) throw badToken()
      return { verified: false as const, valid: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/verify',
    summary: 'Uses up a verification token.',
    role: 'public',
    body: z.strictObject({ token }),
    response: verified,
    audit: false,
    async handler({ body, peer }) {
      await verify(body.token, peer)
      return { verified: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/verify/resend',
    summary: 'Sends another verification letter. The answer is the same for an unknown address.',
    role: 'public',
    body: z.strictObject({ email }),
    response: sent,
    audit: false,
    handler({ body }) {
      const user = people.directory().byEmail.get(body.email)
      write('verify', user?.emailVerified || user?.disabled ? undefined : user, verifyLetter)
      return { sent: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/forgot',
    summary: 'Sends a link for a new password. The answer is the same for an unknown address.',
    role: 'public',
    body: z.strictObject({ email }),
    response: sent,
    audit: false,
    handler({ body }) {
      refuseWithoutPasswords(people)
      const user = people.directory().byEmail.get(body.email)
      write('reset', user?.disabled ? undefined : user, resetLetter)
      return { sent: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/reset',
    summary: 'Sets a new password with the token of the letter, and ends every session of the account.',
    role: 'public',
    body: z.strictObject({ token, password }),
    response: z.strictObject({ reset: z.literal(true) }),
    audit: false,
    async handler({ body, peer }) {
      refuseWithoutPasswords(people)
      const mac = people.mac(body.token)
      // Before the hashing: an invented token costs no work.
      if (!(await tokenIsGood(gateway.db, 'reset', mac, people.now()))) throw badToken()
      const passwordHash = await people.signIn.passwords.hash(body.password)
      const userId = await people.write(async (db) => {
        const id = await takeToken(db, 'reset', mac, people.now())
        if (id === null) return null
        await setPassword(db, id, passwordHash)
        await endSessions(db, id)
        // The letter reached its reader.
        await markVerified(db, id, people.now())
        return id
      })
      if (userId === null) throw badToken()
      await people.record({ orgId: null, actor: actorOf(userId), action: 'user.reset_password', target: String(userId), peer })
      return { reset: true as const }
    },
  })
}

function badToken(): GatewayError {
  return GatewayError.invalid('token', '`token` is unknown, expired or was used before. Ask for another letter.', 'invalid_token')
}

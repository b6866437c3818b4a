// POST /api/auth/signup and POST /api/auth/login.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Peer } from '../../../core/types/ports/ports.ts'
import { actorOf } from '../accounts.ts'
import { verifyLetter } from '../letters.ts'
import type { People } from '../people.ts'
import { firstOrganization, personalName, sessionFor } from '../sessions.ts'
import { insertOrganization, setMember } from '../store.ts'
import { credentialOf, insertUser } from '../users.ts'
import { email, name, password, session } from './schemas.ts'

/** @throws GatewayError 403 when the identity provider alone signs people in. */
export function refuseWithoutPasswords({ signIn }: People): void {
  if (signIn.idpOnly) throw GatewayError.forbidden('password login is disabled')
}

export function signUpRoutes(people: People): void {
  const { gateway, signIn } = people

  gateway.api({
    method: 'POST',
    path: '/api/auth/signup',
    summary: 'Creates an account and an organization of its own.',
    role: 'public',
    status: 201,
    body: z.strictObject({ email, password, name: name.nullable().default(null), org_name: name.nullable().default(null) }),
    response: session,
    audit: false,
    async handler({ body, request, peer }) {
      refuseWithoutPasswords(people)
      const attempt = await signIn.attempts.attempt(body.email, signIn.addressOf(request.headers))
      const passwordHash = await signIn.passwords.hash(body.password)
      const made = await people.write(async (db) => {
        const now = people.now()
        const user = await insertUser(
          db,
          { email: body.email, name: body.name, passwordHash, verified: false, systemAdmin: false },
          now,
        )
        if (user === undefined) return null
        const org = await insertOrganization(db, body.org_name ?? personalName(body.email, body.name), now)
        await setMember(db, { orgId: org.id, userId: user.id, role: 'owner', source: 'sign-up' }, now)
        return { userId: user.id, orgId: org.id }
      })
      if (made === null)
        throw conflict('There is an account with this address. Sign in, or ask for a new password.', 'already_exists')
      await attempt.succeeded({ keepAddress: true })
      await people.record({
        orgId: null,
        actor: actorOf(made.userId),
        action: 'user.create',
        target: String(made.userId),
        details: { email: body.email, organization: made.orgId },
        peer,
      })
      people.later(async () => people.letters.send(verifyLetter(body.email, await people.oneTime('verify', made.userId))))
      return sessionFor(people, made.userId, made.orgId, 'password')
    },
  })

  const failed = (target: string, reason: string, peer: Peer) =>
    people.record({ orgId: null, actor: 'anonymous', action: 'user.login_failed', target, details: { reason }, peer })

  gateway.api({
    method: 'POST',
    path: '/api/auth/login',
    summary: 'E-mail address and password for a session token, good for 12 hours.',
    role: 'public',
    body: z.strictObject({ email, password: z.string().min(1, 'must not be empty').max(1024) }),
    response: session,
    // The route writes its own entries, because a failure is recorded too.
    audit: false,
    async handler({ body, request, peer }) {
      refuseWithoutPasswords(people)
      const attempt = await signIn.attempts
        .attempt(body.email, signIn.addressOf(request.headers))
        .catch(async (error: unknown) => {
          if (GatewayError.is(error) && error.status === 429 && (await signIn.attempts.worthReporting(body.email)))
            await failed(body.email, 'throttled', peer)
          throw error
        })
      const user = await credentialOf(gateway.db, body.email)
      const right = await signIn.passwords.check(body.password, user?.password_hash ?? null)
      if (!right || user === undefined || user.disabled_at !== null) {
        await failed(body.email, right ? 'disabled' : 'wrong_password', peer)
        throw signIn.refused('The e-mail address or the password is wrong.')
      }
      await attempt.succeeded()
      const orgId = await firstOrganization(people, user.id)
      const answer = await sessionFor(people, user.id, orgId, 'password')
      await people.record({
        orgId,
        actor: actorOf(user.id),
        action: 'user.login',
        target: String(user.id),
        details: { method: 'password' },
        peer,
      })
      return answer
    },
  })
}

// Invitations: by letter, for 7 days, accepted once by the person with that address.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted, idParams } from '../../../core/http/schemas.ts'
import { type InvitationRow, insertInvitation, openInvitations, revokeInvitation, takeInvitation } from '../invitation-store.ts'
import { invitationLetter } from '../letters.ts'
import type { People } from '../people.ts'
import { sessionFor } from '../sessions.ts'
import { setMember } from '../store.ts'
import { markVerified } from '../users.ts'
import { email, invitedRole, organizationOf, personOf, session, token } from './schemas.ts'

const DAY_MS = 86_400_000
const LIFETIME_MS = 7 * DAY_MS
/** Letters of one organization. */
const PER_DAY = 200

const invitation = z.strictObject({
  id: z.int(),
  email: z.string(),
  role: invitedRole,
  invited_by: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
})

export function invitationRoutes(people: People): void {
  const { gateway, directory } = people

  gateway.api({
    method: 'POST',
    path: '/api/orgs/members',
    summary: 'Invites a person by letter. The answer is the same whether the address has an account or not.',
    role: 'manage',
    status: 201,
    body: z.strictObject({ email, role: invitedRole.default('member') }),
    response: invitation,
    audit: 'member.invite',
    async handler({ body, operator }) {
      const orgId = organizationOf(operator)
      const { byEmail, membership, organizations } = directory()
      const user = byEmail.get(body.email)
      if (user !== undefined && membership(user.id, orgId) !== undefined)
        throw conflict('This person is a member already.', 'already_exists')
      const { total, endsInMs } = await gateway.counters.debit(`invitations:${orgId}`, 1, DAY_MS)
      if (total > PER_DAY) throw GatewayError.rateLimited(`An organization sends at most ${PER_DAY} invitations a day.`, endsInMs)
      const made = people.token()
      const now = people.now()
      const row = await gateway.db.tx((db) =>
        insertInvitation(db, {
          org_id: orgId,
          email: body.email,
          role: body.role,
          mac: made.mac,
          invited_by: operator.actor,
          created_at: now,
          expires_at: now + LIFETIME_MS,
        }),
      )
      const organization = organizations.get(orgId)?.name ?? 'an organization'
      people.later(() => people.letters.send(invitationLetter(body.email, orgId, organization, made.token)))
      return shown(row)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/orgs/invitations',
    summary: 'Invitations that are neither accepted, revoked nor expired.',
    role: 'manage',
    response: z.strictObject({ data: z.array(invitation) }),
    async handler({ operator }) {
      return { data: (await openInvitations(gateway.db, organizationOf(operator), people.now())).map(shown) }
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/orgs/invitations/:id',
    summary: 'Revokes an invitation: its link ends.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'member.revoke_invitation',
    async handler({ params, operator }) {
      if (!(await revokeInvitation(gateway.db, organizationOf(operator), params.id, people.now())))
        throw notFound(`There is no invitation ${params.id}.`)
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/orgs/invitations/accept',
    summary: 'Joins the organization of an invitation. The answer is a session there.',
    role: 'member',
    body: z.strictObject({ token }),
    response: session,
    // The entry belongs to the organization that is joined.
    audit: false,
    async handler({ body, operator, peer }) {
      const userId = personOf(operator)
      const address = directory().users.get(userId)?.email ?? ''
      const joined = await people.write(async (db) => {
        const row = await takeInvitation(db, people.mac(body.token), address, people.now())
        if (row === undefined || !directory().organizations.has(row.org_id)) return null
        // A membership that is there already keeps its role: an old invitation neither raises nor lowers it.
        if (directory().membership(userId, row.org_id) === undefined)
          await setMember(db, { orgId: row.org_id, userId, role: row.role, source: 'invitation' }, people.now())
        // The letter reached its reader.
        await markVerified(db, userId, people.now())
        return row
      })
      if (joined === null)
        throw GatewayError.invalid(
          'token',
          '`token` is not an open invitation for your address. It may be expired, revoked, accepted before, or for another address.',
          'invalid_token',
        )
      await people.record({
        orgId: joined.org_id,
        actor: operator.actor,
        action: 'member.join',
        target: String(userId),
        details: { role: joined.role, invitation: joined.id },
        peer,
      })
      return sessionFor(people, userId, joined.org_id, operator.auth === 'oidc' ? 'oidc' : 'password')
    },
  })
}

function shown(row: InvitationRow): z.input<typeof invitation> {
  const { id, email, role, invited_by } = row
  return {
    id,
    email,
    role,
    invited_by,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
  }
}

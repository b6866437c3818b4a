// Schemas that the routes of people and organizations share.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { normalEmail } from '../users.ts'

export const email = z
  .string()
  .max(254, 'must have at most 254 characters')
  .transform(normalEmail)
  .pipe(z.string().regex(/^[^\s@]+(@[^\s@]+)*@[^\s@]+\.?[^\s@]+$/, 'must be an e-mail address'))
export const password = z.string().min(8, 'must have at least 8 characters').max(128, 'must have at most 128 characters')
export const name = z.string().trim().min(1, 'must not be empty').max(200)
export const token = z.string().min(1, 'must not be empty').max(200)
export const orgRole = z.enum(['member', 'admin', 'owner'])
export const invitedRole = z.enum(['member', 'admin'])

export const session = z.strictObject({
  token: z.string(),
  token_type: z.literal('Bearer'),
  expires_at: z.string(),
  user: z.strictObject({
    id: z.int(),
    email: z.string(),
    name: z.string().nullable(),
    email_verified: z.boolean(),
    role: z.enum(['user', 'system_admin']),
  }),
  org: z.strictObject({ id: z.int(), name: z.string() }).nullable(),
  role: z.enum(['member', 'manage', 'owner', 'system']).describe('The role on routes.'),
})

/** @throws GatewayError 403 for a token, which has no person behind it. */
export function personOf({ userId, auth }: Operator): number {
  // A token must not turn into a session, which may outlive it.
  if (userId === undefined || auth === 'token')
    throw GatewayError.forbidden('This needs the session of a person. Sign in at POST /api/auth/login.')
  return userId
}

/** @throws GatewayError 400 for a system administrator outside an organization. */
export function organizationOf({ orgId }: Operator): number {
  if (orgId === null)
    throw GatewayError.invalid(null, 'This session is for the gateway itself. Choose an organization with POST /api/auth/switch.')
  return orgId
}

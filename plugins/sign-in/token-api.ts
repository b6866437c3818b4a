// /api/tokens: management tokens for scripts and tools. A token is shown once, when it is created.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import { insertToken, revokeToken, type TokenRow } from './store.ts'
import { listTokens, recordOf, tokenRecord, tokenScope } from './token-list.ts'
import { newToken } from './tokens.ts'

const createBody = z.strictObject({
  label: z.string().trim().min(1, 'must not be empty').max(200).default('token'),
  scope: tokenScope.default('manage'),
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' })
    .nullable()
    .default(null),
})

export function tokenRoutes(
  gateway: PluginGateway,
  view: View<ReadonlyMap<string, TokenRow>>,
  mac: (token: string) => string,
): void {
  const { db, clock } = gateway

  /** A token may create tokens, but none that expires later than itself. */
  const boundedExpiry = (asked: string | null, actor: string): number | null => {
    const expiresAt = asked === null ? null : Date.parse(asked)
    if (expiresAt !== null && expiresAt <= clock.now()) throw GatewayError.invalid('expires_at', '`expires_at` lies in the past.')
    const maker = [...view.current.values()].find((row) => actor === `token:${row.id}`)
    const bound = maker?.expires_at ?? null
    if (bound !== null && expiresAt !== null && expiresAt > bound)
      throw GatewayError.invalid('expires_at', '`expires_at` lies beyond the end of the token that makes this one.')
    return expiresAt ?? bound
  }

  gateway.api({
    method: 'GET',
    path: '/api/tokens',
    summary: 'Management tokens, without their secrets.',
    role: 'manage',
    response: z.strictObject({ data: z.array(tokenRecord) }),
    handler: ({ orgId }) => listTokens(db, orgId),
  })

  gateway.api({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Creates a management token; it is in this answer only.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: tokenRecord.extend({ token: z.string().describe('Shown this once.') }),
    audit: 'token.create',
    async handler({ body, operator, orgId }) {
      const token = newToken()
      const row = {
        label: body.label,
        mac: mac(token),
        last4: token.slice(-4),
        scope: body.scope,
        role: operator.role,
        created_by: operator.actor,
        user_id: operator.userId ?? null,
        created_at: clock.now(),
        expires_at: boundedExpiry(body.expires_at, operator.actor),
      }
      return { ...recordOf(await view.write((tx) => insertToken(tx, orgId, row))), token }
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/tokens/:id',
    summary: 'Revokes a management token at once.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'token.delete',
    async handler({ params, orgId, audited }) {
      const row = await view.write((tx) => revokeToken(tx, orgId, params.id, clock.now()))
      if (row === undefined) throw notFound(`There is no management token ${params.id}.`)
      audited(params.id, { label: row.label })
      return { deleted: true as const }
    },
  })
}

// Every data-plane call of a gateway with tenants needs a key, of an organization that is neither suspended nor deleted.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { People } from './people.ts'

export function dataPlaneGuard({ gateway, directory }: People): void {
  const refuseInactive = (orgId: number | null): void => {
    if (orgId === null) return
    const organization = directory().organizations.get(orgId)
    if (organization === undefined) throw GatewayError.unauthorized('The organization of this client key was deleted.')
    if (organization.suspended)
      throw new GatewayError(
        `The organization \`${organization.name}\` is suspended. Ask the operator of this gateway to resume it.`,
        { status: 403, type: 'permission_error', code: 'organization_suspended' },
      )
  }
  // After the plugin that reads keys: a call that it knows does not come here.
  gateway.hook(
    'authenticate',
    (ctx) => {
      if (ctx.ingress !== null && ctx.ingress.actsFor === undefined)
        throw GatewayError.unauthorized(
          'A client key is required. Send it as `Authorization: Bearer <key>`; make one in the dashboard.',
        )
      return undefined
    },
    { order: 'post' },
  )
  gateway.hook('access', (ctx: RequestContext) => refuseInactive(ctx.principal.orgId))
}

// GET /api/auth/methods: how people sign in here. A page asks before it has a session.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { SignInService } from './service.ts'

const methods = z.strictObject({
  multi_tenant: z.boolean().describe('True: accounts with an e-mail address; false: one password.'),
  idp_enabled: z.boolean().describe('True: only GET /api/auth/oidc/start signs people in.'),
  password_required: z.boolean().describe('False: local clients have access without signing in.'),
})

export function methodsRoute(gateway: PluginGateway, { multiTenant, idpOnly, required }: SignInService): void {
  gateway.api({
    method: 'GET',
    path: '/api/auth/methods',
    summary: 'How people sign in to this gateway.',
    role: 'public',
    response: methods,
    handler: () => ({ multi_tenant: multiTenant, idp_enabled: idpOnly, password_required: required }),
  })
}

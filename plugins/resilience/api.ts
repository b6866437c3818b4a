// DELETE /api/providers/:id/locks: an operator knows better than the clock.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import { idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { AccountStateService } from './service.ts'

export function lockRoute(gateway: PluginGateway, states: Pick<AccountStateService, 'clearLocks'>): void {
  const accounts = gateway.use('accounts')
  gateway.api({
    method: 'DELETE',
    path: '/api/providers/:id/locks',
    summary: 'Ends the locks of a connection: of one `model`, or all of them.',
    params: idParams,
    query: z.strictObject({ model: z.string().min(1).max(256).optional().describe('Bare id; `*`: the lock of all models.') }),
    response: z.strictObject({ cleared: z.int() }),
    audit: 'provider.clear_locks',
    handler({ params, query, orgId }) {
      const id = String(params.id)
      if (!accounts.list().some(({ connection, orgId: owner }) => connection.id === id && owner === orgId))
        throw notFound(`There is no connection ${params.id}.`)
      return { cleared: states.clearLocks(id, query.model) }
    },
  })
}

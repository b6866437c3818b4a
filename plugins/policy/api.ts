// /api/policy: reads and sets the policies, which apply to all organizations.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Policy } from './rules.ts'
import { MODES, type PolicyRow, resetVerdicts, storeMode } from './store.ts'

const policyRecord = z.strictObject({
  provider_id: z.string(),
  mode: z.enum(MODES),
  verdict: z.enum(['unknown', 'ok', 'restricted']),
  verdict_source: z.enum(['observed', 'builtin']),
  reason: z.string().nullable(),
  observed_at: z.string().nullable(),
  effective: z.enum(['allowed', 'blocked']),
})

const providerId = z.string().min(1).max(64)

export interface PolicyBook {
  /** Returns the policies of every provider with a sign-in, by id. */
  all(): readonly Policy[]
  /** Finds a policy by provider id or alias. */
  find(provider: string): Policy | undefined
}

export function policyRoutes(gateway: PluginGateway, view: View<readonly PolicyRow[]>, book: PolicyBook): void {
  const known = (provider: string): Policy => {
    const policy = book.find(provider)
    if (policy === undefined) throw notFound(`There is no sign-in for \`${provider}\`.`)
    return policy
  }

  gateway.api({
    method: 'GET',
    path: '/api/policy',
    summary: 'Says for each provider whether the gateway may use accounts with a personal sign-in. It may always use API keys.',
    role: 'member',
    response: z.strictObject({ data: z.array(policyRecord) }),
    handler: () => ({ data: book.all().map(recordOf) }),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/policy/:provider_id',
    summary: 'Sets the mode: `auto` goes by the verdict, `warn` allows with a warning on each answer.',
    role: 'manage',
    params: z.object({ provider_id: providerId }),
    body: z.strictObject({ mode: z.enum(MODES) }),
    response: policyRecord,
    audit: 'policy.update',
    async handler({ params, body, audited }) {
      const { providerId: id } = known(params.provider_id)
      await view.write((db) => storeMode(db, id, body.mode))
      audited(id)
      return recordOf(known(id))
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/policy/reset-verdicts',
    summary: 'Forgets what was observed, of one provider or of all; modes stay.',
    role: 'manage',
    body: z.strictObject({ provider_id: providerId.optional() }),
    response: z.strictObject({ reset: z.int() }),
    audit: 'policy.reset',
    async handler({ body, audited }) {
      const id = body.provider_id === undefined ? null : known(body.provider_id).providerId
      const reset = await view.write((db) => resetVerdicts(db, id))
      audited(id ?? '*', { reset })
      return { reset }
    },
  })
}

function recordOf(policy: Policy): z.input<typeof policyRecord> {
  return {
    provider_id: policy.providerId,
    mode: policy.mode,
    verdict: policy.verdict,
    verdict_source: policy.source,
    reason: policy.reason,
    observed_at: policy.observedAt === null ? null : new Date(policy.observedAt).toISOString(),
    effective: policy.effective,
  }
}

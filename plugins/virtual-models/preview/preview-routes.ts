// GET /api/virtual-models/:id/preview and POST /api/virtual-models/preview: what a saved virtual model, or a draft of one, would try now.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { idParams } from '../../../core/http/schemas.ts'
import { globMatch } from '../../../core/text/glob.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { fieldsOf, NO_FIELDS } from '../api-fields.ts'
import type { CheckTargets } from '../check-targets.ts'
import type { Directory } from '../names/directory.ts'
import { recipeOf } from '../planning/compiled-model.ts'
import { type Assumed, shadows } from '../planning/model-facts.ts'
import type { VirtualModel } from '../service.ts'
import type { VirtualModelFields } from '../store.ts'
import { type PreviewSources, previewOf } from './preview.ts'
import { draftBody, draftPreview, factsOf, factsQuery, preview } from './preview-fields.ts'

export interface PreviewRoutes extends PreviewSources {
  readonly gateway: PluginGateway
  readonly models: Pick<Directory, 'get' | 'named' | 'compiled'>
  readonly checked: CheckTargets
}

export function previewRoutes({ gateway, models, checked, ...sources }: PreviewRoutes): void {
  const accounts = gateway.use('accounts')
  const keys = gateway.optional('keys')

  gateway.api({
    method: 'GET',
    path: '/api/virtual-models/:id/preview',
    summary: 'Shows which targets a virtual model would try now, in order. The preview changes no state.',
    role: 'member',
    params: idParams,
    query: factsQuery,
    response: preview,
    handler({ params, query, orgId }) {
      const model = models.get(orgId, params.id)
      const compiled = model === null ? null : models.compiled(orgId, model.name)
      if (model === null || compiled === null) throw notFound(`There is no virtual model ${params.id}.`)
      return previewOf(sources, model, { compiled, facts: factsOf(query) })
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/virtual-models/preview',
    summary:
      'Shows which targets a draft of a virtual model would try now, in order. The preview saves nothing and changes no state.',
    role: 'member',
    body: draftBody,
    response: draftPreview,
    audit: false,
    handler({ body: { as_key, assume, request, ...draft }, orgId }) {
      const fields = checked(fieldsOf(draft, NO_FIELDS), orgId)
      const model = draftOf(fields, models.named(orgId, fields.name), orgId)
      const seen = previewOf(sources, model, {
        compiled: recipeOf(model, sources.providerId),
        facts: factsOf(request ?? {}),
        assumed: assumedOf(assume ?? [], orgId),
      })
      const shadows_model = shadows(sources.knowledge, orgId, fields.name)
      return { ...seen, shadows_model, ...(as_key === undefined ? {} : { key: keyOf(orgId, as_key, fields.name) }) }
    },
  })

  function assumedOf(given: readonly { connection_id: number; state: 'up' | 'down' }[], orgId: number | null): Assumed {
    const assumed = new Map<string, 'up' | 'down'>()
    const own = new Set(accounts.list().flatMap((one) => (one.orgId === orgId ? [one.connection.id] : [])))
    for (const [index, { connection_id, state }] of given.entries()) {
      const id = String(connection_id)
      const param = `assume.${index}.connection_id`
      if (!own.has(id)) throw notFound(`There is no connection ${id}.`, param)
      if (assumed.has(id)) throw GatewayError.invalid(param, `\`${param}\`: connection ${id} is there twice.`)
      assumed.set(id, state)
    }
    return assumed
  }

  function keyOf(orgId: number | null, id: number, model: string) {
    const service = keys()
    const key = service?.get(orgId, id) ?? null
    if (service === undefined || key === null) throw notFound(`There is no client key ${id}.`, 'as_key')
    const { label, allowedModels } = key
    const allowed = allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))
    return { id, label, allowed, expired: service.expired(key) }
  }
}

/** A draft under the name of a saved virtual model has its rotation, which continues while the targets stay the same. */
function draftOf(fields: VirtualModelFields, saved: VirtualModel | null, orgId: number | null): VirtualModel {
  const { id = 0, createdAt = 0, updatedAt = 0 } = saved ?? {}
  return { ...fields, id, orgId, managedBy: 'api', configKey: null, createdAt, updatedAt }
}

// Exports and imports virtual models. A target names its connection instead of its id.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { createBody, fieldsOf, NO_FIELDS, recordOf, targetObject } from './api-fields.ts'
import type { VirtualModelService } from './service.ts'
import { insertVirtualModel, updateVirtualModel } from './store.ts'

const target = targetObject.omit({ connection_id: true }).extend({ connection: z.string().max(1000).nullable().optional() })
const data = createBody.extend({ targets: z.array(target).min(1, 'needs at least one target').max(64) })

export function portableVirtualModels(
  gateway: PluginGateway,
  view: View<unknown>,
  models: VirtualModelService,
): PortableKind<z.output<typeof data>> {
  return {
    kind: 'virtual_models',
    after: ['connections'],
    schema: data,
    secrets: [],
    view,
    async rows(orgId, nameOf) {
      return models.list(orgId).map((model) => {
        const {
          id: _,
          org_id: __,
          managed_by,
          config_key: ___,
          created_at: ____,
          updated_at: _____,
          targets,
          ...rest
        } = recordOf(model)
        const named = targets.map(({ connection_id, provider: _provider, model: _model, ...one }) => ({
          ...one,
          connection: connection_id === null ? null : nameOf('connections', connection_id),
        }))
        return { name: model.name, managedBy: managed_by, data: { ...rest, targets: named } as Record<string, Json>, secrets: {} }
      })
    },
    async write({ db, orgId, data: { targets, ...body }, existing, idOf }) {
      const before = existing === null ? null : models.list(orgId).find(({ name }) => name === existing)
      const resolved = []
      for (const [index, { connection = null, ...one }] of targets.entries()) {
        const id = connection === null ? null : await idOf('connections', connection)
        if (connection !== null && id === null)
          throw GatewayError.invalid(`targets.${index}.connection`, `There is no connection \`${connection}\`.`)
        resolved.push({ ...one, connection_id: id })
      }
      const fields = fieldsOf({ ...body, targets: resolved }, before ?? NO_FIELDS)
      const now = gateway.clock.now()
      if (before) await updateVirtualModel(db, orgId, before.id, fields, now)
      else await insertVirtualModel(db, orgId, fields, now)
      return null
    },
  }
}

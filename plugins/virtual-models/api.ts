// /api/virtual-models: create, read, change, delete, enable, disable, reorder.
import { z } from 'zod'
import { conflict, refuseExclusive, refuseOwnedByFile } from '../../core/config/owned.ts'
import { isUniqueViolation } from '../../core/db/storage-fault.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import { createBody, fieldsOf, NO_FIELDS, recordOf, updateBody, virtualModelRecord, warnedRecord } from './api-fields.ts'
import type { CheckTargets } from './check-targets.ts'
import { virtualModel } from './names/directory.ts'
import { type Knowledge, shadows } from './planning/model-facts.ts'
import type { VirtualModel, VirtualModelService } from './service.ts'
import {
  activeVirtualModel,
  archiveVirtualModel,
  insertVirtualModel,
  placeVirtualModel,
  toggleVirtualModel,
  updateVirtualModel,
  type VirtualModelRow,
} from './store.ts'

export interface VirtualModelRoutes {
  gateway: PluginGateway
  view: View<unknown>
  models: VirtualModelService
  knowledge: Knowledge
  checked: CheckTargets
}

const SECTION = 'virtualModels'

export function virtualModelRoutes({ gateway, view, models, knowledge, checked }: VirtualModelRoutes): void {
  const configuration = gateway.use('configuration')
  const now = () => gateway.clock.now()

  gateway.api({
    method: 'GET',
    path: '/api/virtual-models',
    summary: 'Virtual models, in their order.',
    role: 'member',
    response: z.strictObject({ data: z.array(virtualModelRecord) }),
    handler: ({ orgId }) => ({ data: models.list(orgId).map(recordOf) }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/virtual-models',
    summary: 'Creates a virtual model.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: warnedRecord,
    audit: 'vm.create',
    async handler({ body, orgId }) {
      refuseExclusive(SECTION, configuration.exclusive)
      const position = Math.min(Math.max(-1, ...models.list(orgId).map((model) => model.position)) + 1, 1_000_000)
      const fields = checked(fieldsOf(body, { ...NO_FIELDS, position }), orgId)
      return warned(await stored(fields.name, (db) => insertVirtualModel(db, orgId, fields, now())))
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/virtual-models/:id',
    summary: 'One virtual model.',
    role: 'member',
    params: idParams,
    response: virtualModelRecord,
    handler: ({ params, orgId }) => recordOf(mine(orgId, params.id)),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/virtual-models/:id',
    summary: 'Changes a virtual model; members that are left out stay.',
    role: 'manage',
    params: idParams,
    body: updateBody,
    response: warnedRecord,
    audit: 'vm.update',
    async handler({ params, body, orgId }) {
      const known = mine(orgId, params.id)
      refuseOwnedByFile(SECTION, known)
      const row = await stored(body.name ?? known.name, async (db) => {
        // Omitted members keep the values that another process may have just written.
        const before = await activeVirtualModel(db, orgId, params.id)
        if (before === undefined) return undefined
        const fields = checked(fieldsOf(body, before), orgId, before.targets)
        return updateVirtualModel(db, orgId, params.id, fields, now())
      })
      return warned(row)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/virtual-models/:id',
    summary: 'Deletes a virtual model; its name is free again.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'vm.delete',
    async handler({ params, orgId, audited }) {
      const before = mine(orgId, params.id)
      refuseOwnedByFile(SECTION, before)
      if (!(await view.write((db) => archiveVirtualModel(db, orgId, params.id, now())))) throw unknown(params.id)
      audited(params.id, { name: before.name })
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/virtual-models/:id/toggle',
    summary: 'Disables a virtual model that is enabled, enables one that is not.',
    role: 'manage',
    params: idParams,
    response: virtualModelRecord,
    audit: 'vm.toggle',
    async handler({ params, orgId, audited }) {
      const before = mine(orgId, params.id)
      refuseOwnedByFile(SECTION, before)
      const row = await stored(before.name, (db) => toggleVirtualModel(db, orgId, params.id, now()))
      audited(params.id, { name: before.name, enabled: row.enabled })
      return recordOf(virtualModel(row))
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/virtual-models/reorder',
    summary: 'Puts the named virtual models first, in this order; the others keep theirs behind them.',
    role: 'manage',
    body: z.strictObject({ ids: z.array(z.int().min(1)).max(10_000) }),
    response: z.strictObject({ data: z.array(virtualModelRecord) }),
    audit: 'vm.reorder',
    async handler({ body, orgId }) {
      const list = models.list(orgId)
      const listed = body.ids.map((id, index) => {
        const model = list.find((one) => one.id === id)
        if (model === undefined) throw GatewayError.invalid(`ids.${index}`, `There is no virtual model ${id}.`)
        if (body.ids.indexOf(id) !== index) throw GatewayError.invalid(`ids.${index}`, `${id} is there twice.`)
        refuseOwnedByFile(SECTION, model)
        return model
      })
      // File-owned rows keep the position that the file declares.
      const others = list.filter((model) => !listed.includes(model) && model.managedBy === 'api')
      await view.write(async (db) => {
        for (const [position, { id }] of [...listed, ...others].entries()) await placeVirtualModel(db, orgId, id, position, now())
      })
      return { data: models.list(orgId).map(recordOf) }
    },
  })

  function mine(orgId: number | null, id: number): VirtualModel {
    const model = models.get(orgId, id)
    if (model === null) throw unknown(id)
    return model
  }

  async function stored(
    name: string,
    write: Parameters<typeof view.write<VirtualModelRow | undefined>>[0],
  ): Promise<VirtualModelRow> {
    try {
      const row = await view.write(write)
      if (row === undefined) throw notFound('This virtual model is not there any more.')
      return row
    } catch (error) {
      throw isUniqueViolation(error) ? taken(name) : error
    }
  }

  function warned(row: VirtualModelRow): z.input<typeof warnedRecord> {
    const model = virtualModel(row)
    const shadowed = shadows(knowledge, model.orgId, model.name)
    return { ...recordOf(model), ...(shadowed ? { warning: { code: 'shadows_model' as const, model: model.name } } : {}) }
  }
}

function taken(name: string): GatewayError {
  return conflict(`There is a virtual model \`${name}\` already.`, 'already_exists')
}

function unknown(id: number): GatewayError {
  return notFound(`There is no virtual model ${id}.`)
}

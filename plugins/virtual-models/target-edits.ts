// The service `virtualTargetEdits`.
import { conflict, refuseOwnedByFile } from '../../core/config/owned.ts'
import { notFound } from '../../core/http/api-routes.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { CheckTargets } from './check-targets.ts'
import { virtualModel } from './names/directory.ts'
import type { VirtualTargetEdits } from './service.ts'
import { activeVirtualModel, updateVirtualModel } from './store.ts'

export function targetEdits(view: View<unknown>, checked: CheckTargets, now: () => number): VirtualTargetEdits {
  return {
    async replace(orgId, id, targets, expected) {
      await view.write(async (db) => {
        const before = await activeVirtualModel(db, orgId, id)
        if (before === undefined) throw notFound(`There is no virtual model ${id}.`)
        refuseOwnedByFile('virtualModels', virtualModel(before))
        if (JSON.stringify(before.targets) !== JSON.stringify(expected))
          throw conflict(`The targets of \`${before.name}\` have changed since.`, 'conflict')
        const fields = checked({ ...virtualModel(before), targets }, orgId, before.targets)
        await updateVirtualModel(db, orgId, id, fields, now())
      })
    },
  }
}

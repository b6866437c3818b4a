// Exports and imports modes of the credential policy. Observed verdicts stay with the gateway that observed them.
import { z } from 'zod'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import { MODES, type PolicyRow, storeMode } from './store.ts'

const data = z.strictObject({ provider_id: z.string().min(1).max(64), mode: z.enum(MODES) })

export function portablePolicy(view: View<readonly PolicyRow[]>): PortableKind<z.output<typeof data>> {
  return {
    kind: 'policy',
    global: true,
    after: [],
    schema: data,
    secrets: [],
    view: view as View<unknown>,
    async rows() {
      const set = view.current.filter(({ mode }) => mode !== 'auto')
      return set.map(({ provider_id, mode }) => ({
        name: provider_id,
        managedBy: 'api' as const,
        data: { provider_id, mode },
        secrets: {},
      }))
    },
    async write({ db, data: { provider_id, mode } }) {
      await storeMode(db, provider_id, mode)
      return null
    },
  }
}

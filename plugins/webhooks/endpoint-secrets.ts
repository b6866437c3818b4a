// Signing secrets of endpoints, sealed; after a rotation the one before signs too, for a while.
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { hintOf, newSecret, secretPlace } from './secret.ts'
import { type EndpointRow, rotateSecret, storeSecret } from './store.ts'

/** Deliveries carry both signatures. */
const ROTATION_MS = 24 * 3_600_000

export interface EndpointSecrets {
  seal(secret: string, row: EndpointRow): Promise<string>
  hint(row: EndpointRow): Promise<string | null>
  /** The new secret. */
  rotate(row: EndpointRow): Promise<string>
}

export function endpointSecrets({ vault, clock }: PluginGateway, view: View<unknown>): EndpointSecrets {
  const place = ({ id, org_id }: EndpointRow, column?: 'previous_secret') => secretPlace(id, org_id === 0 ? null : org_id, column)
  const opened = async (row: EndpointRow): Promise<string | null> =>
    row.secret === null ? null : vault.open(row.secret, place(row)).catch(() => null)
  return {
    seal: (secret, row) => vault.seal(secret, place(row)),
    async hint(row) {
      const secret = await opened(row)
      return secret === null ? null : hintOf(secret)
    },
    async rotate(row) {
      const secret = newSecret()
      const [old, now] = [await opened(row), clock.now()]
      await vault.prepare(row.org_id === 0 ? null : row.org_id)
      const sealed = await vault.seal(secret, place(row))
      const previous = old === null ? null : await vault.seal(old, place(row, 'previous_secret'))
      await view.write((tx) =>
        previous === null
          ? storeSecret(tx, row.id, sealed)
          : rotateSecret(tx, row.id, { secret: sealed, previous }, now + ROTATION_MS, now),
      )
      return secret
    },
  }
}

// Connections that a sign-in makes and removes: like any other, without a stored key.

import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db, View } from '../../core/types/ports/db.ts'
import { changeOf } from './change.ts'
import { type CheckRules, checkConnection } from './check.ts'
import type { OpenConnection } from './opened.ts'
import type { AccountService } from './service.ts'
import { archiveConnection, insertConnection, markSignedIn, nextPriority } from './store.ts'

export function signedInConnections(
  { clock }: Pick<PluginGateway, 'clock'>,
  view: View<readonly OpenConnection[]>,
  rules: CheckRules,
): Pick<AccountService, 'refresh' | 'signedIn' | 'signedOut'> {
  return {
    refresh: () => view.refresh(),
    async signedIn({ orgId, provider: name, label, baseUrl, wireFormat }, store) {
      const provider = rules.configuration.providerId(name)
      checkConnection({ provider, baseUrl, wireFormat, hasKey: false, signedIn: true, enabled: true, proxyUrl: null }, rules)
      const { fields } = changeOf(provider, { label, base_url: baseUrl, wire_format: wireFormat, enabled: false }, null, rules)
      return view.write(async (db: Db) => {
        const priority = await nextPriority(db, orgId)
        const sealed = { secret: null, proxy_url: null, headers: null }
        const { id } = await insertConnection(db, orgId, { ...fields, ...sealed, priority, enabled: true }, clock.now())
        await markSignedIn(db, id)
        await store(db, id)
        return id
      })
    },
    async signedOut(orgId, id, store) {
      await view.write(async (db) => {
        await archiveConnection(db, orgId, id, clock.now())
        await store(db)
      })
    },
  }
}

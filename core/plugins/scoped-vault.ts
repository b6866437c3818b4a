// A plugin's vault: the same verbs under the plugin's own name, so that what one plugin sealed another cannot open.
import type { Vault } from '../types/ports.ts'

export function scopedVault(vault: Vault, plugin: string): Vault {
  return {
    prepare: (orgId) => vault.prepare(orgId),
    seal: (plain, at) => vault.seal(plain, { ...at, table: `${plugin}/${at.table}` }),
    open: (sealed, at) => vault.open(sealed, { ...at, table: `${plugin}/${at.table}` }),
    mac: (purpose, data) => vault.mac(`${plugin}/${purpose}`, data),
    subkey: (purpose) => vault.subkey(`${plugin}/${purpose}`),
  }
}

// A plugin's storage: the gateway's under the plugin's own prefix. unstorage's `prefixStorage` clears nothing on a root mount,
// so clearing goes by the keys there are.
import { prefixStorage, type Storage } from 'unstorage'
import type { KeyValueStore } from '../types/ports.ts'

export function scopedStorage(storage: KeyValueStore, prefix: string): KeyValueStore {
  const scoped = prefixStorage(storage as Storage, prefix)
  scoped.clear = async (base) => {
    await Promise.all((await scoped.getKeys(base)).map((key) => scoped.removeItem(key)))
  }
  return scoped
}

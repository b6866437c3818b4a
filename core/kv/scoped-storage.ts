// Gives a plugin the gateway's storage under its own prefix. unstorage's `prefixStorage` clears nothing on a root mount, so clear()
// removes the listed keys.
import { prefixStorage, type Storage } from 'unstorage'
import type { KeyValueStore } from '../types/ports/ports.ts'

export function scopedStorage(storage: KeyValueStore, prefix: string): KeyValueStore {
  const scoped = prefixStorage(storage as Storage, prefix)
  scoped.clear = async (base) => {
    await Promise.all((await scoped.getKeys(base)).map((key) => scoped.removeItem(key)))
  }
  return scoped
}

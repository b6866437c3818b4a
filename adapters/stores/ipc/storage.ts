// An unstorage driver for values that workers share over their link. They are in the memory of the primary, bounded there, and end with it.
import type { Driver } from 'unstorage'
import type { Link } from './link.ts'

/** `setItem(key, value, { ttl })` takes seconds with fractions, as other drivers do. */
export function ipcDriver(link: Pick<Link, 'call'>): Driver {
  return {
    name: 'ipc',
    hasItem: (key) => link.call('has', key),
    getItem: (key) => link.call<string | null>('get', key),
    setItem: (key, value, options) => link.call<void>('set', key, value, (options.ttl as number | undefined) ?? null),
    removeItem: (key) => link.call<void>('remove', key),
    getKeys: (base) => link.call('keys', base ?? ''),
    clear: (base) => link.call<void>('clear', base ?? ''),
  }
}

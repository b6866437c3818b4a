// `Helicone-Auth`: where it holds one of our keys and `Authorization` does not, the caller is who that key says. Helicone's own
// key is not ours, and means nothing here.
import type { Services } from '../../core/types/plugin.ts'
import type { HeaderBag } from '../../core/types/ports.ts'

export function adoptKey(headers: HeaderBag, keys: Pick<Services['keys'], 'find'>): void {
  const key = bearerOf(headers.get('helicone-auth'))
  if (key === null || keys.find(key) === null) return
  const presented = bearerOf(headers.get('authorization'))
  if (presented !== null && keys.find(presented) !== null) return
  headers.set('authorization', `Bearer ${key}`)
}

function bearerOf(value: string | null): string | null {
  if (value === null || !/^bearer\s/i.test(value)) return null
  const key = value.slice(7).trim()
  return key === '' ? null : key
}

// Where a caller puts a client key: one extractor for every route.
import type { HeaderBag } from '../../core/types/ports.ts'

/** Everything presented, without repeats; usually nothing or one. */
export function presentedKeys(headers: HeaderBag, query: string): string[] {
  const found: string[] = []
  const add = (value: string | null | undefined): void => {
    const key = value?.trim()
    if (key && !found.includes(key)) found.push(key)
  }
  const authorization = headers.get('authorization')
  if (authorization !== null && /^bearer\s/i.test(authorization)) add(authorization.slice(7))
  add(headers.get('x-api-key'))
  // Azure's clients.
  add(headers.get('api-key'))
  add(headers.get('x-goog-api-key'))
  if (query !== '' && query.includes('key=')) add(new URLSearchParams(query).get('key'))
  return found
}

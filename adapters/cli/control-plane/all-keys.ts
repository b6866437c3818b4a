// Client keys of every page.
import { type ControlPlane, queryOf } from './control-plane.ts'

export interface KeyPage<T> {
  readonly data: T[]
  readonly next_cursor: string | null
  /** On all pages. */
  readonly total: number
}

/** @param from search and the first page's cursor. @throws ApiFailure */
export async function allKeys<T>(
  call: ControlPlane['call'],
  from: Readonly<Record<string, string | undefined>> = {},
): Promise<T[]> {
  const keys: T[] = []
  let cursor = from.cursor
  do {
    const page: KeyPage<T> = await call('GET', `/api/keys${queryOf({ ...from, cursor })}`)
    keys.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return keys
}

// Finds the audit entries of `hookgate apply`, and the server that takes up its changes.
import { createClient } from '../../client/index.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { serverAddress } from '../server-address.ts'

export interface Applied {
  /** Numbers of the audit entries, oldest first. */
  readonly audit: readonly number[]
  /** The server of this configuration, when it runs on this database; null: none answers, or it needs a credential. */
  readonly server: { readonly url: string; readonly generation: number } | null
}

interface Page {
  readonly data: readonly { readonly seq: number; readonly action: string; readonly hash: string }[]
  readonly next_cursor: string | null
}

const PATIENCE_MS = 2000
const PAGE = 200

/** @param since when the changes began. @param actor of their entries. */
export async function appliedSince({ call, gateway }: ControlPlane, since: Date, actor: string): Promise<Applied> {
  const audit: number[] = []
  let newest: string | null = null
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ actor, since: since.toISOString(), limit: String(PAGE), ...(cursor && { cursor }) })
    // A configuration without the audit plugin has no such route.
    const page: Page = await call<Page>('GET', `/api/audit?${query}`).catch(() => ({ data: [], next_cursor: null }))
    newest ??= page.data[0]?.hash ?? null
    audit.unshift(...page.data.flatMap(({ seq, action }) => (action.startsWith('config.') ? [seq] : [])).reverse())
    cursor = page.next_cursor
  }
  const url = serverAddress(gateway.env)
  const server = newest === null || url === null ? null : await serverWith(newest, url).catch(() => null)
  return { audit, server }
}

/** Returns the server at this address, if its audit log has the entry: then it works on the same database. */
async function serverWith(hash: string, url: string): Promise<Applied['server']> {
  const client = createClient({ baseURL: url })
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const { data } = (await (await client.send('GET', '/api/audit?limit=50', { signal })).json()) as Page
  if (!data.some((entry) => entry.hash === hash)) return null
  for await (const { event, data } of client.events({ signal, reconnect: false }))
    return event === 'hello' && data.generation !== undefined ? { url, generation: data.generation } : null
  return null
}

/** For people: `audit entries 3 to 5`. */
export function entriesNamed(audit: readonly number[]): string {
  const [first, last] = [audit[0], audit.at(-1)]
  if (first === undefined) return 'no audit entry'
  if (first === last) return `audit entry ${first}`
  const apart = audit.some((seq, at) => seq !== first + at)
  return apart ? `${audit.length} audit entries from ${first} to ${last}` : `audit entries ${first} to ${last}`
}

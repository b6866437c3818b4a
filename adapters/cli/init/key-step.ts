// The third step of `hookgate init`: the client key.
import { allKeys } from '../control-plane/all-keys.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { text } from './questions.ts'

export interface ClientKey {
  readonly id: number
  readonly label: string
  /** Absent of a key that exists already: its secret was shown once. */
  readonly key?: string
}

/** Makes the key, unless one with the label exists. Returns null when the step is skipped. */
export async function clientKey(
  { call }: Pick<ControlPlane, 'call'>,
  asked: string | undefined,
  asks: boolean,
): Promise<ClientKey | null> {
  const label = asked ?? (asks ? await text('Label of your client key (`skip` for none):', 'me') : 'me')
  if (label === 'skip') return null
  const there = (await allKeys<ClientKey>(call, { q: label.slice(0, 200) })).find((key) => key.label === label)
  if (there !== undefined) return { id: there.id, label }
  const { id, key } = await call<Required<ClientKey>>('POST', '/api/keys', { label })
  return { id, label, key }
}

export function keyWords(key: ClientKey | null): string {
  if (key === null) return 'skipped'
  if (key.key === undefined) return `key ${key.id} (${key.label}) is there already; its secret was shown once`
  return `key ${key.id} (${key.label}) is made; its secret is shown this once`
}

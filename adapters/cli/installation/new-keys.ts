// The client keys that `hookgate apply` made without a secret in the file: on a terminal each gets one that is shown once.
import type { PlanStep } from '../../../core/config/reconcile.ts'
import { allKeys } from '../control-plane/all-keys.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { printable } from '../output/table.ts'

/** True: the file gives the new key no secret, so it has one that was never shown. */
export function hasUnseenSecret({ section, action, changes }: PlanStep): boolean {
  return section === 'keys' && action === 'create' && !changes.some(({ member }) => member === 'secret')
}

export interface NewKey {
  readonly id: number
  readonly label: string
  /** null: it is not shown here, because a file or a pipe may be a log. */
  readonly secret: string | null
}

export async function newKeys(
  { call }: Pick<ControlPlane, 'call'>,
  steps: readonly PlanStep[],
  shows: boolean,
): Promise<NewKey[]> {
  const made: NewKey[] = []
  for (const { name } of steps.filter(hasUnseenSecret)) {
    const found = await allKeys<{ id: number; label: string }>(call, { q: name.slice(0, 200) })
    const id = found.find(({ label }) => label === name)?.id
    if (id === undefined) continue
    const secret = shows ? (await call<{ key: string }>('POST', `/api/keys/${id}/rotate`)).key : null
    made.push({ id, label: name, secret })
  }
  return made
}

export function newKeyWords({ id, label, secret }: NewKey): string {
  const name = `key ${id} (${printable(label)})`
  return secret === null ? `${name}: \`hookgate key rotate ${id}\` shows a secret` : `${name}, shown once: store it now`
}

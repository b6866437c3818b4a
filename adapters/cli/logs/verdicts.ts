// The second line of a request that took several calls: each account, its answer, and what the gateway did then.
import { printable } from '../output/table.ts'

/** An attempt of GET /api/logs/{request_id}, with the members that are printed. */
export interface LoggedAttempt {
  readonly provider: string
  readonly connection_id: string
  readonly model: string
  readonly status: number | null
  readonly cause: string | null
  readonly error: { readonly code: string | null } | null
  readonly action: string | null
  readonly skipped: { readonly reason: string } | null
}

const ACTIONS: Readonly<Record<string, string>> = {
  returned: 'returned',
  next_account: 'next account',
  next_target: 'next target',
  retry_stripped_field: 'stripped and retried',
  retry_fresh_socket: 'retried on a new socket',
  waited_cooldown: 'waited and retried',
  retried: 'retried',
}

/** @param names `provider/label` by the id of the connection. */
export function verdictLine(attempts: readonly LoggedAttempt[], names: ReadonlyMap<string, string>): string {
  const folded: { text: string; times: number }[] = []
  for (const attempt of attempts) {
    const text = verdict(attempt, names)
    const last = folded.at(-1)
    if (last?.text === text) last.times++
    else folded.push({ text, times: 1 })
  }
  return `  └ ${folded.map(({ text, times }) => (times > 1 ? `${text} ×${times}` : text)).join(' · ')}`
}

function verdict(
  { provider, connection_id, model, status, cause, error, action, skipped }: LoggedAttempt,
  names: ReadonlyMap<string, string>,
): string {
  const account = printable(names.get(connection_id) ?? `${provider}/${model}`)
  if (skipped !== null) return `skipped ${account} ${printable(skipped.reason)}`
  const words = action === null ? 'ended' : (ACTIONS[action] ?? action.replaceAll('_', ' '))
  if (error === null) return `${account} ${words}`
  return `${account} ${printable(String(status ?? error.code ?? cause ?? 'failed'))} ${words}`
}

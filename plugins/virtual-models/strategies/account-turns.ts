// `routing.account_rotation`: uses the accounts of a target in turn. There is one cursor for each model and operation. Otherwise a caller
// that counts tokens before each message, or alternates two models, would use only every second account. In memory.
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import { rotated } from './rotation.ts'

/** Callers choose models, so the least recently used cursor is removed and starts again later. */
const MAX_CURSORS = 2000

export interface AccountTurns {
  /**
   * Keeps the accounts of a target together. With `pinned` the first account stays and no turn is used; otherwise sessions with a regular
   * length would always begin with the same account.
   */
  ordered(ctx: RequestContext, candidates: Candidate[], pinned: boolean): Candidate[]
}

export function accountTurns(): AccountTurns {
  const turns = new Map<string, number>()
  const turnOf = (key: string, taken: boolean): number => {
    const turn = turns.get(key) ?? 0
    if (!taken) return turn
    turns.delete(key)
    turns.set(key, (turn + 1) % Number.MAX_SAFE_INTEGER)
    if (turns.size > MAX_CURSORS) turns.delete(turns.keys().next().value as string)
    return turn
  }
  return {
    ordered({ operation }, candidates, pinned) {
      const order = pinned ? candidates.slice(0, 1) : []
      for (let at = order.length; at < candidates.length; ) {
        const { target } = candidates[at] as Candidate
        let end = at + 1
        while (candidates[end]?.target === target) end++
        const accounts = candidates.slice(at, end)
        const turn = accounts.length > 1 ? turnOf(`${operation} ${target.provider}/${target.model}`, !pinned) : 0
        order.push(...rotated(accounts, turn))
        at = end
      }
      return order
    },
  }
}

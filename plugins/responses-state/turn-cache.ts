// Opened turns of long conversations, so that each new turn does not open all earlier ones again. A turn never changes. Each use asks the
// database first which turns still exist and may be read.
import type { Turn } from './turn.ts'

export interface TurnCache {
  get(token: string): Turn | undefined
  /** `bytes`: size of the turn. */
  set(token: string, turn: Turn, bytes: number): void
  delete(token: string): void
}

/** `maxBytes`: the turns that were not used for the longest time are dropped beyond it. */
export function turnCache(maxBytes: number): TurnCache {
  const turns = new Map<string, { readonly turn: Turn; readonly bytes: number }>()
  let held = 0
  const drop = (token: string): void => {
    held -= turns.get(token)?.bytes ?? 0
    turns.delete(token)
  }
  return {
    get(token) {
      const found = turns.get(token)
      if (found === undefined) return undefined
      turns.delete(token)
      turns.set(token, found)
      return found.turn
    },
    set(token, turn, bytes) {
      drop(token)
      turns.set(token, { turn, bytes })
      held += bytes
      for (const oldest of turns.keys()) {
        if (held <= maxBytes) return
        drop(oldest)
      }
    },
    delete: drop,
  }
}

// Names that one process holds at a time. Others that want a held name wait for the outcome.

/** The outcome for those that wait when the holder's process ended. */
const LEFT = 'left'

type Waiter = (outcome: string) => void

interface Held {
  readonly holder: object
  readonly waiters: Map<Waiter, object>
}

export interface Claims {
  /** Returns true when `holder` has the name now; otherwise `waiter` is called once with the outcome. */
  take(holder: object, name: string, waiter: Waiter): boolean
  end(holder: object, name: string, outcome: string): void
  /** The process has ended: its names are free, and it waits for nothing. */
  leave(holder: object): void
}

export function claimTable(): Claims {
  const names = new Map<string, Held>()
  const end = (name: string, { waiters }: Held, outcome: string): void => {
    names.delete(name)
    for (const waiter of waiters.keys()) waiter(outcome)
  }
  return {
    take(holder, name, waiter) {
      const held = names.get(name)
      if (held === undefined) {
        names.set(name, { holder, waiters: new Map() })
        return true
      }
      held.waiters.set(waiter, holder)
      return false
    },
    end(holder, name, outcome) {
      const held = names.get(name)
      if (held?.holder === holder) end(name, held, outcome)
    },
    leave(holder) {
      for (const [name, held] of names) {
        if (held.holder === holder) {
          for (const [waiter, by] of held.waiters) if (by === holder) held.waiters.delete(waiter)
          end(name, held, LEFT)
        } else for (const [waiter, by] of held.waiters) if (by === holder) held.waiters.delete(waiter)
      }
    },
  }
}

// `load_balance`: everybody in turn. Rotating what survived, not the full list, keeps the spread even while one is down.

export function rotated<T>(list: readonly T[], turn: number): T[] {
  const start = list.length === 0 ? 0 : turn % list.length
  return start === 0 ? [...list] : [...list.slice(start), ...list.slice(0, start)]
}

/** Whose turn it is, by recipe; in memory, from the start again when its targets change. */
export interface Cursors {
  /** Moves nothing. */
  peek(id: string, targets: object): number
  /** This turn; the next one is one further. */
  next(id: string, targets: object): number
}

export function cursors(): Cursors {
  const turns = new Map<string, { targets: object; turn: number }>()
  const peek = (id: string, targets: object): number => {
    const known = turns.get(id)
    return known?.targets === targets ? known.turn : 0
  }
  return {
    peek,
    next(id, targets) {
      const turn = peek(id, targets)
      turns.set(id, { targets, turn: (turn + 1) % Number.MAX_SAFE_INTEGER })
      return turn
    },
  }
}

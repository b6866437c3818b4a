// `load_balance`: everybody in turn. Rotating what survived, not the full list, keeps the spread even while one is down.

export function rotated<T>(list: readonly T[], turn: number): T[] {
  const start = list.length === 0 ? 0 : turn % list.length
  return start === 0 ? [...list] : [...list.slice(start), ...list.slice(0, start)]
}

/** The next turn of each virtual model; kept in memory, restarts when its targets change. */
export interface Cursors {
  /** Moves nothing. */
  peek(compiled: Turning): number
  /** This turn; the next one is one further. */
  next(compiled: Turning): number
}

interface Turning {
  readonly id: string
  /** Differs when its targets do. */
  readonly version: string
}

export function cursors(): Cursors {
  const turns = new Map<string, { version: string; turn: number }>()
  const peek = ({ id, version }: Turning): number => {
    const known = turns.get(id)
    return known?.version === version ? known.turn : 0
  }
  return {
    peek,
    next(compiled) {
      const turn = peek(compiled)
      turns.set(compiled.id, { version: compiled.version, turn: (turn + 1) % Number.MAX_SAFE_INTEGER })
      return turn
    },
  }
}

// `load_balance`: uses all targets in turn. It rotates the remaining targets, not the full list, so that the load stays even while one is
// down.

export function rotated<T>(list: readonly T[], turn: number): T[] {
  const start = list.length === 0 ? 0 : turn % list.length
  return start === 0 ? [...list] : [...list.slice(start), ...list.slice(0, start)]
}

/** The next turn of each virtual model. In memory; it restarts when the targets change. */
export interface Cursors {
  /** Returns the next turn without using it. */
  peek(compiled: Turning): number
  /** Returns this turn and advances. */
  next(compiled: Turning): number
}

interface Turning {
  readonly id: string
  /** Changes when the targets change. */
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

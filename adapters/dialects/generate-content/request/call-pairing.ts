// Pairs function results with their calls: by id, otherwise first in first out per name, otherwise by position in the latest model turn.
// Every step takes constant time, for any length of the history.

export interface OpenCall {
  readonly id: string
  readonly name: string
  readonly turn: number
  answered: boolean
}

interface Queue {
  items: OpenCall[]
  head: number
}

export interface CallPairing {
  /** Calls seen so far. */
  readonly count: number
  call(id: string, name: string, turn: number): void
  /** Marks the call of a result as answered and returns it; undefined when there is none. */
  answer(id: string, name: string): OpenCall | undefined
}

export function callPairing(): CallPairing {
  const byId = new Map<string, Queue>()
  const byName = new Map<string, Queue>()
  let latest: Queue = { items: [], head: 0 }
  let turn = -1
  let count = 0

  return {
    get count() {
      return count
    },
    call(id, name, at) {
      const open: OpenCall = { id, name, turn: at, answered: false }
      if (at !== turn) latest = { items: [], head: 0 }
      turn = at
      count++
      latest.items.push(open)
      enqueue(byId, id, open)
      enqueue(byName, name, open)
    },
    answer(id, name) {
      const ids = id === '' ? undefined : byId.get(id)
      // A second result for one id keeps that id; the encoders choose between the two.
      const match = first(ids) ?? ids?.items.at(-1) ?? first(byName.get(name)) ?? first(latest)
      if (match !== undefined) match.answered = true
      return match
    },
  }
}

function enqueue(queues: Map<string, Queue>, key: string, open: OpenCall): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, { items: [open], head: 0 })
  else queue.items.push(open)
}

function first(queue: Queue | undefined): OpenCall | undefined {
  if (queue === undefined) return undefined
  while (queue.items[queue.head]?.answered) queue.head++
  return queue.items[queue.head]
}

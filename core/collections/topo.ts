// Stable topological sort: the given order stays unless a constraint changes it.

export interface TopoNode<T> {
  value: T
  /** Shown in errors about cycles. */
  name: string
  /** Indexes of nodes that must come first. */
  after: readonly number[]
}

/** Returns the sorted nodes. @throws Error whose message shows the cycle ("a → b → a"). */
export function topoSort<T>(nodes: readonly TopoNode<T>[]): T[] {
  const out: T[] = []
  const state: ('new' | 'open' | 'done')[] = nodes.map(() => 'new')
  const path: number[] = []

  const visit = (index: number): void => {
    if (state[index] === 'done') return
    if (state[index] === 'open') {
      const cycle = [...path.slice(path.indexOf(index)), index].reverse()
      throw new Error(cycle.map((at) => nodes[at]?.name).join(' → '))
    }
    state[index] = 'open'
    path.push(index)
    for (const before of [...(nodes[index]?.after ?? [])].sort((a, b) => a - b)) visit(before)
    path.pop()
    state[index] = 'done'
    out.push((nodes[index] as TopoNode<T>).value)
  }

  nodes.forEach((_, index) => {
    visit(index)
  })
  return out
}

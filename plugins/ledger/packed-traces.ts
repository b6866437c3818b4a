// The JSON of traces that share a stored row. Each is `[id, at, facts]`. One whose facts equal those of the entry before is
// `[id, ms after the last entry with facts, prompt bytes]`: most requests of a commit differ only in these, and a row of sixty then fits
// on a page of SQLite.
import { z } from 'zod'
import { type DispatchRow, factsIn, type Known, PROMPT_BYTES } from './dispatch.ts'

export type PackedTrace = Pick<DispatchRow, 'request_id' | 'at' | 'facts'>

interface Open {
  readonly requestId: string
  readonly at: number
  readonly known: Known
}

/** Sets of facts that a trace is compared with. */
const COMPARED = 16

export function packTraces(traces: Iterable<Open>): string {
  const groups: Open[][] = []
  for (const trace of traces) {
    const group = groupOf(groups, trace)
    if (group === undefined) groups.push([trace])
    else group.push(trace)
  }
  const entries: unknown[] = []
  for (const group of groups) {
    const first = group[0] as Open
    entries.push([first.requestId, first.at, first.known])
    for (let i = 1; i < group.length; i++) {
      const { requestId, at, known } = group[i] as Open
      entries.push([requestId, at - first.at, known[PROMPT_BYTES]])
    }
  }
  return JSON.stringify(entries)
}

const stored = z.array(z.tuple([z.string(), z.number(), z.union([z.array(z.unknown()), z.number()])]))

/** @throws Error for a text that `packTraces` did not write. */
export function unpackTraces(json: string): PackedTrace[] {
  let first: PackedTrace | null = null
  return stored.parse(JSON.parse(json)).map(([request_id, at, facts]) => {
    if (typeof facts !== 'number') {
      first = { request_id, at, facts: factsIn(facts) }
      return first
    }
    if (first === null) throw new Error('The first trace of a row has no facts.')
    return { request_id, at: first.at + at, facts: { ...first.facts, promptBytes: facts } }
  })
}

function groupOf(groups: readonly Open[][], { known }: Open): Open[] | undefined {
  for (let i = groups.length - 1; i >= 0 && i >= groups.length - COMPARED; i--) {
    const group = groups[i] as Open[]
    if (isSame((group[0] as Open).known, known)) return group
  }
  return undefined
}

function isSame(a: Known, b: Known): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (i !== PROMPT_BYTES && a[i] !== b[i]) return false
  return true
}

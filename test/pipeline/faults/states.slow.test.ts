// One gateway whose accounts keep their state over a sequence of faults. After each fault the test checks every account's state,
// which accounts are skipped and why, and which events were emitted; at the end all accounts recover.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DIALECTS } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { type Cell, nameOf, pairs } from '../support/faults.ts'
import { PAST, ROWS, type StateFault } from './state-rows.ts'
import { type StateWorld, stateWorld } from './state-world.ts'

const counted = cells('fault matrix, state of accounts')
interface Figures {
  cells: number
  green: number
  /** Accounts that this fault made unavailable, and those that recovered. */
  out: number
  recovered: number
}
const table = new Map<string, Figures>()
let world: StateWorld
let failing = false
beforeAll(async () => {
  world = await stateWorld()
})
afterAll(async () => {
  for (const row of world.comebacks) figuresOf(row).recovered++
  const rows = [...table].map(([row, figures]) => ({ row, ...figures }))
  const sum = (of: 'cells' | 'green' | 'out' | 'recovered') => rows.reduce((total, row) => total + row[of], 0)
  console.table([...rows, { row: 'all', cells: sum('cells'), green: sum('green'), out: sum('out'), recovered: sum('recovered') }])
  process.stdout.write(`${world.requests} requests over one gateway\n`)
  await world.close()
})

/** With fewer available accounts, unavailable ones recover first. */
const LEAST_USABLE = 3

function figuresOf(row: string): Figures {
  const figures = table.get(row) ?? { cells: 0, green: 0, out: 0, recovered: 0 }
  table.set(row, figures)
  return figures
}

async function recover(cell: Cell): Promise<void> {
  // For circuits, every other time the probe fails before one succeeds.
  failing = !failing
  await world.recover(cell, failing)
}

async function everyCell(fault: StateFault): Promise<void> {
  const figures = figuresOf(fault.row)
  for (const cell of pairs(fault)) {
    figures.cells++
    await counted.run(fault.row, `${fault.title}, ${nameOf(cell)}`, async () => {
      if (world.usable(cell.upstream) < LEAST_USABLE) await recover(cell)
      const usable = world.usable(cell.upstream)
      await world.ask(cell, [fault])
      if (world.usable(cell.upstream) < usable) {
        figures.out++
        // The next request, for this model and for another one.
        await world.ask(cell, [])
        await world.ask(cell, [], 'another')
      }
      figures.green++
    })
  }
}

describe('what a fault leaves on an account, carried from cell to cell', () => {
  it.each(ROWS.map((fault, index) => [fault.title, fault, index] as const))('%s', async (_, fault, index) => {
    await everyCell(fault)
    // One upstream's accounts recover at once, another one's each time; the others keep their state.
    const all = pairs(fault)
    await recover(all[(index * 7) % all.length] as Cell)
    await world.checkMetrics()
  })

  it('in the end everybody is back', async () => {
    const plain = (upstream: Cell['upstream']): Cell => ({ caller: 'chat', upstream, stream: false })
    for (const upstream of DIALECTS) {
      await recover(plain(upstream))
      // All six are called.
      await world.ask(plain(upstream), Array(5).fill(PAST))
      expect(world.usable(upstream)).toBe(6)
    }
    await world.checkMetrics()
  })

  it('no cell was left out, and all are green', () => {
    const rows = [...table.values()]
    const all = ROWS.reduce((sum, fault) => sum + pairs(fault).length, 0)
    expect([rows.reduce((sum, row) => sum + row.cells, 0), rows.reduce((sum, row) => sum + row.green, 0)]).toEqual([all, all])
    const gone = [...table].filter(([row, { out }]) => out > world.comebacks.filter((one) => one === row).length)
    expect(gone, 'rows of which an account was not shown to come back').toEqual([])
  })
})

// Counts the cells of a matrix: row by row, how many were run, and one line at the end.
import { afterAll } from 'vitest'

export interface Cells {
  /** Runs one cell; its name is in the message when it fails. */
  run(row: string, name: string, cell: () => Promise<void>): Promise<void>
}

export function cells(matrix: string): Cells {
  const green = new Map<string, number>()
  afterAll(() => {
    const total = [...green.values()].reduce((sum, count) => sum + count, 0)
    const rows = [...green].map(([row, count]) => `${row}:${count}`)
    process.stdout.write(`${matrix}: ${total} cells green (${rows.join(' ')})\n`)
  })
  return {
    async run(row, name, cell) {
      try {
        await cell()
      } catch (thrown) {
        if (thrown instanceof Error) thrown.message = `[${row} · ${name}] ${thrown.message}`
        throw thrown
      }
      green.set(row, (green.get(row) ?? 0) + 1)
    },
  }
}

// Counts the cells of a matrix: row by row, how many ran, with one line at the end. A failed cell does not hide later ones: the test
// fails at its end, with all their names.
import { afterAll, afterEach } from 'vitest'

export interface Cells {
  run(row: string, name: string, cell: () => Promise<void>): Promise<void>
}

export function cells(matrix: string): Cells {
  const green = new Map<string, number>()
  let red: Error[] = []
  afterEach(() => {
    const [first, ...others] = red
    red = []
    if (first === undefined) return
    first.message = [first.message, ...others.map(({ message }) => message.split('\n', 1)[0])].join('\n')
    throw first
  })
  afterAll(() => {
    const total = [...green.values()].reduce((sum, count) => sum + count, 0)
    const rows = [...green].map(([row, count]) => `${row}:${count}`)
    process.stdout.write(`${matrix}: ${total} cells green (${rows.join(' ')})\n`)
  })
  return {
    async run(row, name, cell) {
      try {
        await cell()
        green.set(row, (green.get(row) ?? 0) + 1)
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown))
        error.message = `[${row} · ${name}] ${error.message}`
        red.push(error)
      }
    },
  }
}

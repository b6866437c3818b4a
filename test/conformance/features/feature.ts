// A row of the matrix.
import type { Cell } from '../cell.ts'

export interface Feature {
  id: string
  title: string
  run(cell: Cell): Promise<void>
}

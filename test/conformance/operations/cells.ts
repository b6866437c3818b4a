// Runs every cell of the operations' matrix: operation × codec × what the vendor does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLUMNS, operationCell } from './cell.ts'
import { expectedOf } from './expected.ts'
import type { OperationResult } from './report.ts'
import { CODEC_CASES, startWorld, type World } from './world.ts'

export const OPERATION_CELLS = CODEC_CASES.length * COLUMNS.length

/** Declares a test for each cell; each one adds its result. */
export function operationCells(results: OperationResult[]): void {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  describe.each(CODEC_CASES)('$operation at $codec ($provider)', (of) => {
    it.each(COLUMNS)('%s', async (column) => {
      const outcome = await operationCell(world, of, column)
      results.push({ ...of, column, outcome })
      expect(outcome).toEqual(expectedOf(of, column))
    })
  })
}

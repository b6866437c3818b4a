// The conformance matrix: official SDK × caller dialect × upstream dialect × feature × stream, and operation × codec × failure, over real
// sockets. It writes docs/conformance.md when every cell has run; in CI the committed file must equal the result of this run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cell } from './cell.ts'
import { expectedOf } from './expected.ts'
import { FEATURES } from './features/index.ts'
import { DIALECTS } from './neutral.ts'
import { OPERATION_CELLS, operationCells } from './operations/cells.ts'
import type { OperationResult } from './operations/report.ts'
import { type CellResult, report } from './report.ts'
import { startWorld, type World } from './world.ts'

const DOCUMENT = resolve(import.meta.dirname, '../../docs/conformance.md')
const CELLS = DIALECTS.length ** 2 * FEATURES.length * 2

const results: CellResult[] = []
const operationResults: OperationResult[] = []
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

describe.each(
  DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream }))),
)('conformance: $caller → $upstream', ({ caller, upstream }) => {
  for (const feature of FEATURES) {
    for (const stream of [false, true]) {
      it(`${feature.title}${stream ? ', streamed' : ''}`, async () => {
        const cell = new Cell(world, caller, upstream, stream)
        await feature.run(cell)
        const outcome = cell.outcome()
        results.push({ caller, upstream, feature: feature.id, stream, outcome })
        expect(outcome).toMatchObject(expectedOf(feature.id, caller, upstream))
      })
    }
  }
})

describe('conformance: operations', () => operationCells(operationResults))

describe('docs/conformance.md', () => {
  it('says what this run has measured', ({ skip }) => {
    // A filtered run has too few results to write the document.
    if (results.length < CELLS || operationResults.length < OPERATION_CELLS) return skip()
    const written = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : ''
    const now = report(results, FEATURES, operationResults)
    if (now !== written) writeFileSync(DOCUMENT, now)
    if (process.env.CI) expect(written, 'the committed document is stale; commit the one just written').toBe(now)
  })
})

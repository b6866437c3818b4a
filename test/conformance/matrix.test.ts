// The conformance matrix: official SDK × caller dialect × upstream dialect × feature × stream, over real sockets.
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Cell } from './cell.ts'
import { FEATURES } from './features/index.ts'
import { DIALECTS } from './neutral.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())
for (const caller of DIALECTS)
  for (const upstream of DIALECTS)
    describe(`${caller} → ${upstream}`, () => {
      for (const feature of FEATURES)
        for (const stream of [false, true])
          it(`${feature.title}${stream ? ', streamed' : ''}`, async () => {
            const cell = new Cell(world, caller, upstream, stream)
            await feature.run(cell)
            console.log('CELL', caller, upstream, feature.id, stream, JSON.stringify(cell.outcome()))
          })
    })

// Whatever the dialects make of requests and answers, a filter may give back as it came: a filter that replaces everything by
// itself goes unnoticed, in the cells of the conformance matrix and in the conformance kit.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pluginConformance } from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { wasmFilters } from '../../../plugins/wasm-filters/index.ts'
import { Cell } from '../../conformance/cell.ts'
import { FEATURES } from '../../conformance/features/index.ts'
import { DIALECTS } from '../../conformance/neutral.ts'
import { startWorld, type World } from '../../conformance/world.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { echoes, guest } from './guests.ts'
import { AMPLE } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'wasm-everything-'))
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 3 }))
const path = join(folder, 'echo.wasm')
const log = recordingLog()

beforeAll(async () => {
  const exports = { on_request: echoes('request'), on_response: echoes('response'), on_chunk: echoes('events') }
  writeFileSync(path, await guest({ exports }))
})

/** Beside that of the preset, which has no file. */
function echo(): Plugin {
  const { definition } = wasmFilters()
  return definePlugin({
    name: 'echo-filter',
    setup: (gateway) => definition.setup({ ...gateway, log }, definition.config.parse({ path, timeouts: AMPLE })),
  })()
}

describe('the conformance matrix through it', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld([echo()])
  })
  afterAll(() => world.close())

  // Between different dialects: what goes from one to itself is compared byte for byte, and who replaces a request gives that up.
  for (const caller of DIALECTS)
    for (const feature of FEATURES)
      it(`${caller}: ${feature.title}`, async () => {
        for (const upstream of DIALECTS.filter((dialect) => dialect !== caller))
          for (const stream of [false, true]) await feature.run(new Cell(world, caller, upstream, stream))
        expect(log.lines.filter(({ message }) => message === 'wasm.failed')).toEqual([])
      })
})

describe('the conformance kit', () => {
  for (const { name, run } of pluginConformance(echo, { latencyMs: 500 })) it(name, run, 60_000)
})

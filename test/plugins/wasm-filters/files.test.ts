// GATEWAY_PLUGIN_PATH and GATEWAY_PLUGIN_FAIL_OPEN, as the environment gives them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/index.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { guest, says } from './guests.ts'
import { chat } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'wasm-files-'))
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 3 }))

async function file(name: string): Promise<string> {
  const manifest = { abi: 1, name: name.replace('.wasm', ''), version: '1' }
  const module = await guest({ manifest, exports: { on_request: says('') } })
  writeFileSync(join(folder, name), module)
  return join(folder, name)
}

/** The names of the filters in use, in their order. */
async function used(env: Record<string, string>): Promise<unknown[]> {
  const log = recordingLog()
  const t = await createTestGateway({ env, ports: { log } })
  await t.close()
  return log.lines
    .filter(({ message }) => message === 'wasm_filter.loaded')
    .map(({ fields }) => (fields as { filter: string }).filter)
}

describe('GATEWAY_PLUGIN_PATH', () => {
  it('is a file, several, or a folder', async () => {
    const [second, first] = [await file('bravo.wasm'), await file('alpha.wasm')]
    writeFileSync(join(folder, 'notes.txt'), 'no module')
    expect(await used({ PLUGIN_PATH: second })).toEqual(['bravo'])
    expect(await used({ PLUGIN_PATH: [second, first].join(delimiter) })).toEqual(['bravo', 'alpha'])
    expect(await used({ PLUGIN_PATH: folder })).toEqual(['alpha', 'bravo'])
  })

  it('that leads nowhere stops the boot, and says where to', async () => {
    const nowhere = join(folder, 'nowhere.wasm')
    await expect(used({ PLUGIN_PATH: nowhere })).rejects.toThrow(/GATEWAY_PLUGIN_PATH: .*nowhere\.wasm cannot be read \(ENOENT\)/)
    mkdirSync(join(folder, 'empty'))
    await expect(used({ PLUGIN_PATH: join(folder, 'empty') })).rejects.toThrow(/there is no \*\.wasm/)
  })
})

describe('GATEWAY_PLUGIN_FAIL_OPEN', () => {
  it('leaves out what cannot be used, with a line of the log', async () => {
    const good = await file('good.wasm')
    const bad = join(folder, 'bad.wasm')
    writeFileSync(bad, 'no module')
    const log = recordingLog()
    const env = { PLUGIN_PATH: [bad, good].join(delimiter), PLUGIN_FAIL_OPEN: 'true' }
    const t = await createTestGateway({ env, ports: { log } })
    expect((await t.post('/v1/chat/completions', chat('Hi'))).status).toBe(200)
    expect(log.lines.filter(({ message }) => message === 'wasm_filter.skipped')).toHaveLength(1)
    await t.close()
  })

  it('goes on without filters where none can be read', async () => {
    const t = await createTestGateway({ env: { PLUGIN_PATH: join(folder, 'nowhere.wasm'), PLUGIN_FAIL_OPEN: 'true' } })
    expect((await t.post('/v1/chat/completions', chat('Hi'))).status).toBe(200)
    await t.close()
  })
})

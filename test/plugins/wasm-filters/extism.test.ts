// The guest ABI is Extism's: what its own SDK gets out of a module, we get too.
import { readFileSync } from 'node:fs'
import createPlugin from '@extism/extism'
import { describe, expect, it } from 'vitest'
import { openGuest } from '../../../plugins/wasm-filters/guest.ts'
import { echoes, guest, says, stars } from './guests.ts'

const INPUTS = ['{}', '{"request":"a blueBIRD"}', `{"request":"${'äöü # 👋 '.repeat(500)}","events":["#"]}`, '"events":']
const CONFIG = { word: 'bluebird' }

const MODULES: Record<string, () => Promise<Uint8Array>> = {
  'the example': async () => readFileSync('examples/wasm-filter/filter.wasm'),
  'one that answers': () => guest({ exports: { on_request: says({ action: 'continue' }) } }),
  'one that gives back': () => guest({ exports: { on_request: echoes('request'), on_chunk: stars('events') } }),
}

describe.each(Object.entries(MODULES))('%s', (_name, made) => {
  it('says the same to both', async () => {
    const wasm = Uint8Array.from(await made())
    const sdk = await createPlugin({ wasm: [{ data: wasm }] }, { useWasi: false, config: CONFIG })
    const own = openGuest(wasm, CONFIG)
    for (const name of own.exports)
      for (const input of INPUTS) {
        const expected = (await sdk.call(name, input).catch(() => 'it trapped')) ?? ''
        const { output, failure } = own.call(name, input, 0)
        const said = typeof expected === 'string' ? expected : expected.text()
        expect(failure === null ? output : 'it trapped', `${name} of ${input.slice(0, 40)}`).toBe(said)
      }
    await sdk.close()
  })
})

// An answer that a failing filter was passed over for is given once: no cache keeps it for those that come when the filter is well.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { ask, HOUR } from '../exact-cache/support.ts'
import { type Body, guest, says } from './guests.ts'
import { AMPLE } from './support.ts'

let folder: string
let t: TestGateway
beforeEach(() => {
  policies = []
  folder = mkdtempSync(join(tmpdir(), 'wasm-filters-'))
})
afterEach(async () => {
  await t.close()
  rmSync(folder, { recursive: true, maxRetries: 3 })
})

let policies: string[]
const noting = definePlugin({
  name: 'noting',
  requires: ['exact-cache'],
  setup(gateway) {
    const policy = gateway.use('cachePolicy')
    gateway.hook('access', (ctx) => void policies.push(policy.of(ctx)))
  },
})

async function open(modules: Record<string, Uint8Array>): Promise<void> {
  const paths = Object.entries(modules).map(([name, module]) => {
    const path = join(folder, name)
    writeFileSync(path, module)
    return path
  })
  const wasmFilters = { path: paths.join(delimiter), failOpen: true, timeouts: AMPLE }
  t = await createTestGateway({ config: { plugins: preset({ wasmFilters }) }, plugins: [noting()], env: HOUR })
}

it('of a filter that failed', async () => {
  const failsOnce: Body = {
    texts: { nonsense: 'no JSON' },
    code: '(if (i32.eqz (global.get $calls)) (then (call $say_nonsense))) (global.set $calls (i32.const 1))',
  }
  await open({ 'a.wasm': await guest({ exports: { on_response: failsOnce }, more: '(global $calls (mut i32) (i32.const 0))' }) })
  for (const cache of ['miss', 'miss', 'hit']) expect(await ask(t, 'chat')).toMatchObject({ status: 200, cache })
  expect(t.upstream.requests).toHaveLength(2)
})

it('of one that was left out: where it is not, keys are those of a gateway without it', async () => {
  const good = await guest({ exports: { on_response: says('') } })
  await open({ 'a.wasm': good })
  await ask(t, 'chat')
  await t.close()
  await open({ 'a.wasm': good, 'b.wasm': Buffer.from('no module') })
  await ask(t, 'chat')
  expect(policies).toHaveLength(2)
  expect(policies[0]).toContain('wasm_filters')
  expect(policies[1]).toBe(policies[0])
})

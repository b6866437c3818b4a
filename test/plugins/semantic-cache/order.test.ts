// The place of the caches in the pipeline, and that a disabled cache runs no hook.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { bodyOf, pathOf } from '../exact-cache/support.ts'

let t: TestGateway
afterEach(() => t.close())

function cachesOf({ gateway }: TestGateway) {
  return gateway.hooks.find(({ hook }) => hook === 'answer')?.handlers.filter(({ plugin }) => plugin.endsWith('-cache'))
}

it('the exact one answers before the semantic one, also where the list says otherwise', async () => {
  t = await createTestGateway({ config: { plugins: preset().reverse() } })
  const caches = cachesOf(t)
  expect(caches?.map(({ plugin }) => plugin)).toEqual(['exact-cache', 'semantic-cache'])
  expect(caches?.every(({ conditional, onError }) => conditional && onError === 'open')).toBe(true)
})

it('without the exact cache there is no semantic one', async () => {
  t = await createTestGateway({ config: { plugins: preset({ exactCache: false }) } })
  expect(cachesOf(t)).toEqual([])
})

it('while both are off no request is decoded for them', async () => {
  const decoded: boolean[] = []
  const watcher = definePlugin({
    name: 'watcher',
    setup(gateway) {
      gateway.hook('admit', (ctx) => void decoded.push((ctx as unknown as { decoded: boolean }).decoded))
    },
  })
  t = await createTestGateway({ plugins: [watcher()] })
  await (await t.post(pathOf('chat'), bodyOf('chat'))).text()
  await t.untilSettled()
  expect(decoded).toEqual([false])
})

// Large bodies that arrive together are read and written one per turn of the event loop, so that other requests continue.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { ask } from '../adapters/node/support.ts'

let t: TestGateway
afterEach(() => t.close())

/** Counts turns, and records the turns in which a large request was checked and was written for the upstream. */
async function turnsOf(caller: 'chat' | 'messages', chars: number): Promise<number[]> {
  const seen: number[] = []
  let turn = 0
  let over = false
  const count = () => {
    turn++
    if (!over) setImmediate(count)
  }
  const watch = definePlugin({
    name: 'watch',
    setup(gateway) {
      gateway.hook('access', () => void seen.push(turn), { order: 'pre' })
      gateway.hook('encoded', () => void seen.push(turn), { order: 'pre' })
    },
  })
  t = await createTestGateway({ plugins: [watch()] })
  setImmediate(count)
  const { path, body } = ask(caller, 'chat/m', { text: 'x'.repeat(chars) })
  await Promise.all(Array.from({ length: 10 }, async () => expect((await t.post(path, body)).status).toBe(200)))
  over = true
  return seen
}

describe.each(['chat', 'messages'] as const)('%s → chat', (caller) => {
  it('ten large bodies take a turn each to check, and another to send', async () => {
    const seen = await turnsOf(caller, 200_000)
    expect(seen).toHaveLength(20)
    expect(new Set(seen).size).toBe(20)
  })

  it('small ones do not wait for turns', async () => {
    expect(new Set(await turnsOf(caller, 10)).size).toBeLessThan(20)
  })
})

// Strict mode: a plugin that writes in place fails in both lanes, with the place and the fix.
import { afterEach, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { jsonLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'

let t: TestGateway
afterEach(() => t.close())

const writers: Record<string, () => Plugin> = {
  response: definePlugin({
    name: 'writer',
    setup(gateway) {
      gateway.hook('response', (_ctx, answer) => {
        ;(answer as unknown as Record<string, unknown>).model = 'mine'
        return undefined
      })
    },
  }),
  stream: definePlugin({
    name: 'writer',
    setup(gateway) {
      gateway.hook('stream', () => ({
        event(event, emit) {
          ;(event as unknown as Record<string, unknown>).type = 'mine'
          emit(event)
        },
      }))
    },
  }),
  'stream:batch': definePlugin({
    name: 'writer',
    setup(gateway) {
      gateway.hook('stream:batch', (_ctx, events) => {
        events.pop()
        return events
      })
    },
  }),
}

async function logged(plugin: Plugin, stream: boolean): Promise<{ status: number; text: string; log: string }> {
  const lines: string[] = []
  const log = jsonLog(systemClock, { write: (line) => lines.push(line) })
  t = await createTestGateway({ plugins: [plugin], upstream: [reply({ text: 'Hi' })], ports: { log } })
  const messages = [{ role: 'user', content: 'Hi' }]
  const response = await t.post('/v1/chat/completions', { model: 'chat/m', stream, messages })
  return { status: response.status, text: await response.text(), log: lines.join('\n') }
}

it.each([
  ['response', false, /Return a changed copy of the answer/],
  ['stream', true, /Emit a changed copy of the event/],
  ['stream:batch', true, /Return a new list/],
])('a write in place in `%s` is an error', async (hook, stream, instead) => {
  const { text, log } = await logged(writers[hook]?.() as Plugin, stream)
  expect(text).toContain('plugin_failed')
  expect(log).toMatch(instead)
  expect(log).toContain(`The plugin \`writer\` writes to what the hook \`${hook}\` gave it`)
  expect(log).toMatch(/strict\.test\.ts:\d+/)
})

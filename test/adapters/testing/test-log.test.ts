// A plugin that fails in a test shows its stack.
import { afterEach, expect, it, vi } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { testLog } from '../../../adapters/testing/test-log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const faulty = definePlugin({
  name: 'faulty',
  setup(gateway) {
    gateway.hook('settled', function readsTooFar() {
      throw new TypeError('no such member')
    })
  },
})

it('by default on standard error, with plugin, hook and the line of the plugin', async () => {
  let text = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  const t = await createTestGateway({ plugins: [faulty()] })
  await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] })
  await t.untilSettled()
  await t.close()
  expect(text).toMatch(/^plugin\.error faulty settled\nTypeError: no such member\n +at .*readsTooFar.*test-log\.test\.ts:\d+/)
})

it('leaves everything else out', () => {
  const lines: string[] = []
  const log = testLog((line) => lines.push(line))
  log.error('redis.lost', { error: 'x' })
  log.warn('plugin.error', {})
  log.info('slow')
  expect(lines).toEqual([])
})

// Headers that plugins add to answers: never a duplicate of a framing header.
import { afterEach, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { jsonLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { systemClock } from '../../../core/timing/clock.ts'

let t: TestGateway
afterEach(() => t.close())

const adding = (name: string) =>
  definePlugin({
    name: 'adding',
    setup(gateway) {
      gateway.hook('access', (ctx) => ctx.responseHeaders.set(name, '7'), { onError: 'open' })
    },
  })()

async function answered(name: string, stream: boolean): Promise<{ response: Response; log: string }> {
  const lines: string[] = []
  const log = jsonLog(systemClock, { write: (line) => lines.push(line) })
  t = await createTestGateway({ plugins: [adding(name)], upstream: [reply({ text: 'Hi' })], ports: { log } })
  const { url } = await t.listen()
  const body = JSON.stringify({ model: 'chat/m', stream, messages: [{ role: 'user', content: 'Hi' }] })
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })
  expect(await response.text()).toContain('Hi')
  return { response, log: lines.join('\n') }
}

it.each([
  ['Content-Length', false],
  ['content-length', true],
  ['Content-Type', false],
  ['transfer-encoding', true],
  ['Connection', false],
])('refuses %s (stream: %s), and the answer is whole', async (name, stream) => {
  const { response, log } = await answered(name, stream)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^(?:application\/json|text\/event-stream); charset=utf-8$/)
  expect(log).toContain(`the gateway sets the header \`${name.toLowerCase()}\` itself`)
})

it('sends any other', async () => {
  expect((await answered('X-Mine', false)).response.headers.get('x-mine')).toBe('7')
})

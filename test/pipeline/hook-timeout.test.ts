// GATEWAY_HOOK_TIMEOUT_MS: hooks without a timeout of their own do not hold a request for ever.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, fakeClock, type TestGateway } from '../../adapters/testing/index.ts'
import { requestOf } from '../../adapters/testing/requests.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { HookName } from '../../core/types/plugin/hooks.ts'

let t: TestGateway
afterEach(() => t.close())

const BOUNDED = [
  'ingress',
  'authenticate',
  'access',
  'resolve',
  'request',
  'admit',
  'candidates',
  'prepare',
  'encoded',
  'response',
] as const
const UNBOUNDED = ['answer', 'call', 'attempt'] as const

async function start(hook: HookName, env: Record<string, string> = {}) {
  let release = (): void => {}
  let reach = (): void => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const slow = definePlugin({
    name: 'slow',
    setup(gateway) {
      const wait = () =>
        new Promise<never>((resolve) => {
          release = resolve as () => void
          reach()
        })
      gateway.hook(hook, wait as never, hook === 'authenticate' || hook === 'resolve' ? { order: 'pre' } : {})
    },
  })
  const clock = fakeClock()
  t = await createTestGateway({ plugins: [slow()], env, ports: { clock } })
  const { path, body } = requestOf('chat', 'chat', false)
  let settled = false
  const answer = t.post(path, body).then((response) => {
    settled = true
    return response
  })
  await reached
  const pass = async (ms: number): Promise<boolean> => {
    for (let past = 0; past < ms; past += 500) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      await clock.advance(500)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    return settled
  }
  return { answer, pass, release: () => release() }
}

it.each(BOUNDED)('`%s` is refused after 30 s', async (hook) => {
  const { answer, pass } = await start(hook)
  expect(await pass(29_000)).toBe(false)
  await pass(3000)
  const response = await answer
  expect({ status: response.status, text: await response.text() }).toEqual({
    status: 503,
    text: expect.stringContaining('plugin_failed'),
  })
})

it.each(UNBOUNDED)('`%s` may wait for an upstream', async (hook) => {
  const { answer, pass, release } = await start(hook, { UPSTREAM_IDLE_TIMEOUT_MS: '0' })
  expect(await pass(90_000)).toBe(false)
  release()
  await (await answer).text()
})

it('0 switches it off', async () => {
  const { answer, pass, release } = await start('request', { HOOK_TIMEOUT_MS: '0' })
  expect(await pass(90_000)).toBe(false)
  release()
  expect((await answer).status).toBe(200)
})

// HEALTH_CHECK_INTERVAL_SECS, with a scripted model list.
import { afterEach, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { preset } from '../../../plugins/preset.ts'
import { type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

/** One round comes within a tenth of the interval. */
const ROUND = 66_000

async function probed(answer: (connection: Connection, signal: AbortSignal) => Promise<number>, accounts = [{}] as object[]) {
  const asked: string[] = []
  const lists = definePlugin({
    name: 'model-lists',
    setup(gateway) {
      gateway.provide('modelListProbe', {
        status(connection, signal) {
          asked.push(connection.label)
          return answer(connection, signal)
        },
      })
    },
  })
  w = await world({ accounts, config: { plugins: [lists(), ...preset()] }, env: { HEALTH_CHECK_INTERVAL_SECS: '60' } })
  return asked
}

it('failures of the list open the circuit, its success closes it: no request is needed, and none is booked', async () => {
  let status = 500
  await probed(async () => status)
  for (let i = 0; i < 5; i++) await w.clock.advance(ROUND)
  expect(w.types()).toContain('provider.circuit_opened')
  status = 200
  for (let i = 0; i < 2; i++) await w.clock.advance(ROUND)
  expect(w.types().at(-1)).toBe('provider.circuit_closed')
  expect([w.calls(), w.t.settled]).toEqual([[0], []])
  expect(await (await w.t.fetch('/metrics')).text()).toMatch(/gateway_health_probes_total\{result="ok"\} [1-9]/)
})

it('no answer in ten seconds is a failure', async () => {
  await probed(
    (_connection, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  )
  await w.clock.advance(ROUND + 10_000)
  expect(await w.states()).toMatchObject([{ consecutive_failures: 1 }])
})

it('one refusal is nothing, two in a row are the key’s; then it is not asked any more', async () => {
  const asked = await probed(async () => 401)
  await w.clock.advance(ROUND)
  expect(await w.states()).toMatchObject([{ status: 'active' }])
  for (let i = 0; i < 3; i++) await w.clock.advance(ROUND)
  expect(await w.states()).toMatchObject([{ status: 'auth_failed' }])
  expect(asked).toHaveLength(2)
})

it('a provider without a list is asked once, and keeps what it has', async () => {
  const asked = await probed(async () => 404)
  for (let i = 0; i < 4; i++) await w.clock.advance(ROUND)
  expect(asked).toHaveLength(1)
  expect(await w.states()).toMatchObject([{ status: 'active', consecutive_failures: 0, model_locks: [] }])
})

it('asks at most four at once, and leaves alone what cools down or is disabled', async () => {
  let running = 0
  let most = 0
  const asked = await probed(async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return 200
  }, [{ script: [fail(402)] }, { enabled: false }, ...Array(7).fill({ script: [text('ok')] })])
  await w.status()
  await w.clock.advance(ROUND)
  expect(most).toBe(4)
  expect(new Set(asked).size).toBe(7)
})

it('a dead proxy is not the account’s failure', async () => {
  await probed(async () => {
    throw GatewayError.network('proxy', 'The proxy refused.')
  })
  await w.clock.advance(ROUND)
  expect(await w.states()).toMatchObject([{ consecutive_failures: 0 }])
})

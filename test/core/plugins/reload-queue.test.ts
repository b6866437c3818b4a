// One generation after the other: overlapping reloads, overlapping closes, and plugins that never finish.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createGateway } from '../../../core/gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin, PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Transport } from '../../../core/types/ports/ports.ts'
import { recordingLog } from '../../support/recording-log.ts'

const transport: Transport = { send: () => ({ abort() {} }), close: async () => {} }

function world() {
  const clock = fakeClock()
  const log = recordingLog()
  const boot = (plugins: Plugin[]) => createGateway({ plugins }, { transport, dialects: [], providers: [], log, clock })
  return { clock, log, boot, said: () => JSON.stringify(log.lines) }
}

/** Advances the time for running work, and for the work that it starts. */
async function pass(clock: FakeClock, by: string): Promise<void> {
  for (const step of [0, by, by]) await clock.advance(step)
}

/** Records its start and end; its setup takes the time of its option. */
function slow(clock: FakeClock) {
  const events: string[] = []
  const plugin = definePlugin({
    name: 'slow',
    config: z.object({ v: z.number(), ms: z.number().default(0) }),
    async setup(_gateway, { v, ms }) {
      events.push(`+${v}`)
      if (ms > 0) await clock.sleep(ms)
      return () => void events.push(`-${v}`)
    },
  })
  return { events, plugin }
}
const plain = (setup: (gateway: PluginGateway) => unknown, name = 'plain') => definePlugin({ name, setup: setup as never })()

it('of two reloads at once the later one stays, and every plugin that was set up ends', async () => {
  const { clock, boot } = world()
  const { events, plugin } = slow(clock)
  const gateway = await boot([plugin({ v: 0 })])
  const both = [gateway.reload({ plugins: [plugin({ v: 1, ms: 200 })] }), gateway.reload({ plugins: [plugin({ v: 2, ms: 50 })] })]
  await pass(clock, '1s')
  await Promise.all(both)
  await gateway.close()
  expect(events).toEqual(['+0', '+1', '-0', '+2', '-1', '-2'])
})

it('a reload behind one that fails is made all the same', async () => {
  const { clock, boot } = world()
  const { events, plugin } = slow(clock)
  const gateway = await boot([plugin({ v: 0 })])
  const wrong = gateway.reload({ nothing: {} })
  await gateway.reload({ plugins: [plugin({ v: 1 })] })
  await expect(wrong).rejects.toThrow(/nothing/)
  await gateway.close()
  expect(events).toEqual(['+0', '+1', '-0', '-1'])
})

it('an end during a reload leaves nothing running, and the reload says why it was for nothing', async () => {
  const { clock, boot } = world()
  const { events, plugin } = slow(clock)
  const gateway = await boot([plugin({ v: 0 })])
  const reload = gateway.reload({ plugins: [plugin({ v: 1, ms: 200 })] })
  const refused = expect(reload).rejects.toThrow('The gateway is closed.')
  await clock.advance(0)
  const closing = gateway.close()
  await pass(clock, '1s')
  await Promise.all([refused, closing])
  expect(events).toEqual(['+0', '+1', '-1', '-0'])
  await expect(gateway.reload({ plugins: [plugin({ v: 2 })] })).rejects.toThrow('The gateway is closed.')
})

it('ends once, however often it is told to', async () => {
  const { boot } = world()
  let ended = 0
  const gateway = await boot([plain((g) => g.hook('close', () => void ended++))])
  await Promise.all([gateway.close(), gateway.close()])
  await gateway.close()
  expect(ended).toBe(1)
})

it.each<[string, (gateway: PluginGateway) => unknown]>([
  ['a teardown', () => () => new Promise(() => {})],
  ['a close hook', (g) => g.hook('close', () => new Promise(() => {}))],
  ['a job that does not look at its signal', (g) => g.every('job', 1000, () => new Promise(() => {}))],
])('%s that does not end keeps nobody else from ending', async (_what, setup) => {
  const { clock, boot, said } = world()
  const ended: string[] = []
  const gateway = await boot([plain(() => () => void ended.push('other'), 'other'), plain(setup, 'stuck')])
  await clock.advance('2s')
  const closing = gateway.close()
  await pass(clock, '10s')
  await closing
  expect(ended).toEqual(['other'])
  expect(said()).toMatch(/"plugin":"stuck".*10000 ms/)
})

it.each<[string, (gateway: PluginGateway) => unknown, RegExp]>([
  ['a setup', () => new Promise(() => {}), /`stuck` could not be set up: it has not ended after 60000 ms/],
  [
    'a ready hook with a limit',
    (g) => g.hook('ready', () => new Promise<void>(() => {}), { timeoutMs: 500 }),
    /`stuck` failed in `ready`/,
  ],
])('%s that does not end is a boot error with its name, and what was set up ends', async (_what, setup, message) => {
  const { clock, boot } = world()
  const ended: string[] = []
  const booting = expect(
    boot([plain(() => () => void ended.push('other'), 'other'), plain(setup as never, 'stuck')]),
  ).rejects.toThrow(message)
  await pass(clock, '60s')
  await booting
  expect(ended).toEqual(['other'])
})

it.each([['a text'], [undefined], [null]])('a setup that throws %j is named', async (thrown) => {
  const { boot } = world()
  const setup = () => {
    throw thrown
  }
  await expect(boot([plain(setup)])).rejects.toThrow(`The plugin \`plain\` could not be set up: it threw ${thrown}`)
  await expect(boot([plain((g) => g.hook('ready', setup))])).rejects.toThrow(/`plain` failed in `ready`: it threw/)
})

it('what is registered after the setup is refused, and after the end nothing begins', async () => {
  const { boot } = world()
  const held: PluginGateway[] = []
  const gateway = await boot([plain((g) => void held.push(g))])
  const [late] = held as [PluginGateway]
  const route = { method: 'GET', path: '/api/late', summary: 'Late.', handler: () => ({}) } as const
  for (const call of [
    () => late.hook('request', () => {}),
    () => late.api(route),
    () => late.provide('greeting', { say: () => '' }),
  ])
    expect(call).toThrow(/`plain` calls gateway\.\w+\(\) after its setup/)
  late.every('in-time', 1000, async () => {})
  expect(() => late.settings.watch('no.such' as never, () => {})).toThrow(/did not declare/)
  await gateway.close()
  expect(() => late.every('late', 1000, async () => {})).toThrow(/after its end/)
  expect(() => late.events.on('test.happened', () => {})).toThrow(/after its end/)
})

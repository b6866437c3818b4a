import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { Transport } from '../../../core/types/ports/ports.ts'

declare module '../../../core/types/plugin/plugin.ts' {
  interface Services {
    greeting: { say(): string }
  }
  interface EventMap {
    'test.happened': { n: number }
  }
}

const transport: Transport = { send: () => ({ abort() {} }), close: async () => {} }
const boot = (plugins: Plugin[], env: Record<string, string> = {}, settings: Record<string, unknown> = {}) =>
  createGateway({ plugins, settings }, { transport, dialects: [], providers: [], log: silentLog, env, clock: fakeClock() })

const log: string[] = []
const logging = (name: string, requires: string[] = []) =>
  definePlugin({
    name,
    requires,
    config: z.object({ word: z.string().default('x') }),
    setup(_gateway, { word }) {
      log.push(`+${name}:${word}`)
      return () => void log.push(`-${name}`)
    },
  })

describe('set-up', () => {
  it('runs in file order, except that what is required comes first', async () => {
    log.length = 0
    const gateway = await boot([logging('c', ['a'])(), logging('b')(), logging('a')()])
    expect(log).toEqual(['+b:x', '+a:x', '+c:x'])
    await gateway.close()
    expect(log.slice(3).sort()).toEqual(['-a', '-b', '-c'])
  })

  it('tears down in reverse order', async () => {
    log.length = 0
    const gateway = await boot([logging('one')(), logging('two')(), logging('three')()])
    await gateway.close()
    expect(log.slice(3)).toEqual(['-three', '-two', '-one'])
  })

  it.each([
    ['a requirement nobody meets', [logging('a', ['ghost'])()], /`a` requires `ghost`/],
    ['a circle', [logging('a', ['b'])(), logging('b', ['a'])()], /circle: a, b/],
    ['the same name twice', [logging('a')(), logging('a')()], /`a` is listed twice/],
    ['wrong options', [logging('a')({ word: 7 as unknown as string })], /`a` got wrong options: word/],
    [
      'a set-up that throws',
      [
        definePlugin({
          name: 'boom',
          setup: () => {
            throw new Error('no disk')
          },
        })(),
      ],
      /`boom` could not be set up: no disk/,
    ],
    [
      'tables without a database',
      [definePlugin({ name: 'rows', migrations: [{ id: '001', up: '' }], setup() {} })()],
      /`rows` keeps tables/,
    ],
  ])('%s is a boot error with names', async (_what, plugins, message) => {
    await expect(boot(plugins as Plugin[])).rejects.toThrow(message)
  })

  it('takes an option from the variable its field names, above the file', async () => {
    log.length = 0
    const plugin = definePlugin({
      name: 'p',
      config: z.object({ rate: z.number().meta({ env: 'UPSTREAM_IDLE_TIMEOUT_MS' }) }),
      setup: (_g, { rate }) => void log.push(String(rate)),
    })
    await boot([plugin({ rate: 1 })], { GATEWAY_UPSTREAM_IDLE_TIMEOUT_MS: '12' })
    await boot([plugin({ rate: 1 })])
    expect(log).toEqual(['12', '1'])
  })
})

describe('facilities', () => {
  it('services reach other plugins by token; a missing one says what to do', async () => {
    log.length = 0
    const provider = definePlugin({ name: 'provider', setup: (g) => g.provide('greeting', { say: () => 'hello' }) })
    const user = definePlugin({ name: 'user', requires: ['greeting'], setup: (g) => void log.push(g.use('greeting').say()) })
    await boot([user(), provider()])
    expect(log).toEqual(['hello'])
    await expect(boot([definePlugin({ name: 'lonely', setup: (g) => void g.use('greeting') })()])).rejects.toThrow(
      /`lonely` uses the service `greeting`/,
    )
  })

  it('of two providers the first counts, and the log names the other', async () => {
    const warned: object[] = []
    const provider = (name: string) => definePlugin({ name, setup: (g) => g.provide('greeting', { say: () => name }) })()
    const said: string[] = []
    const user = definePlugin({ name: 'user', requires: ['greeting'], setup: (g) => void said.push(g.use('greeting').say()) })
    const gateway = await createGateway(
      { plugins: [provider('one'), provider('two'), user()] },
      { transport, dialects: [], providers: [], log: { ...silentLog, warn: (_line, fields) => void warned.push(fields ?? {}) } },
    )
    expect(said).toEqual(['one'])
    expect(warned).toEqual([{ service: 'greeting', plugin: 'two', behind: 'one' }])
    await gateway.close()
  })

  it('events are synchronous and a failing listener harms nobody', async () => {
    const seen: number[] = []
    let emit: (n: number) => void = () => {}
    await boot([
      definePlugin({
        name: 'bad',
        setup: (g) =>
          g.events.on('test.happened', () => {
            throw new Error('x')
          }),
      })(),
      definePlugin({ name: 'good', setup: (g) => g.events.on('test.happened', ({ n }) => void seen.push(n)) })(),
      definePlugin({
        name: 'emitter',
        setup: (g) => {
          emit = (n) => g.events.emit('test.happened', { n })
        },
      })(),
    ])
    emit(1)
    expect(seen).toEqual([1])
  })

  it('settings: default < file < environment, a pinned one above all', async () => {
    const values: unknown[] = []
    const plugin = definePlugin({
      name: 's',
      settings: { 'a.b': z.number().default(1).meta({ env: 'UPSTREAM_IDLE_TIMEOUT_MS' }) },
      setup: (g) => void values.push(g.settings.get('a.b')),
    })
    await boot([plugin()])
    await boot([plugin()], {}, { 'a.b': 2 })
    await boot([plugin()], { GATEWAY_UPSTREAM_IDLE_TIMEOUT_MS: '3' }, { 'a.b': 2 })
    await boot([plugin()], { GATEWAY_UPSTREAM_IDLE_TIMEOUT_MS: '3' }, { 'a.b': { pinned: 4 } })
    expect(values).toEqual([1, 2, 3, 4])
  })

  it('storage is prefixed by plugin and forgets when its TTL says so', async () => {
    const clock = fakeClock()
    const out: unknown[] = []
    let later: () => Promise<void> = async () => {}
    const store = (name: string) =>
      definePlugin({
        name,
        async setup(g) {
          await g.storage.setItem('k', name, { ttl: 60 })
          out.push(await g.storage.getItem('k'))
          later = async () => void out.push(await g.storage.getItem('k'))
        },
      })
    await createGateway(
      { plugins: [store('a')(), store('b')()] },
      { transport, dialects: [], providers: [], log: silentLog, clock },
    )
    await clock.advance('61s')
    await later()
    expect(out).toEqual(['a', 'b', null])
  })

  it('jobs run jittered, never twice at once, and end with the gateway', async () => {
    const clock = fakeClock()
    let runs = 0
    const gateway = await createGateway(
      { plugins: [definePlugin({ name: 'j', setup: (g) => g.every('tick', 1000, async () => void runs++) })()] },
      { transport, dialects: [], providers: [], log: silentLog, clock },
    )
    await clock.advance('10s')
    expect(runs).toBeGreaterThanOrEqual(9)
    expect(runs).toBeLessThanOrEqual(11)
    await gateway.close()
    const after = runs
    await clock.advance('10s')
    expect(runs).toBe(after)
  })
})

describe('reload', () => {
  it('keeps unchanged plugins, sets up changed and new ones, tears down the rest after the swap', async () => {
    log.length = 0
    const a = logging('a')
    const b = logging('b')
    const clock = fakeClock()
    const gateway = await createGateway(
      { plugins: [a(), b({ word: 'old' })] },
      { transport, dialects: [], providers: [], log: silentLog, clock },
    )
    await gateway.reload({ plugins: [a(), b({ word: 'new' }), logging('c')()] })
    await clock.advance(100)
    expect(log).toEqual(['+a:x', '+b:old', '+b:new', '+c:x', '-b'])
  })

  it('sets up anew who used a service of a changed plugin', async () => {
    log.length = 0
    const provider = definePlugin({
      name: 'provider',
      config: z.object({ word: z.string() }),
      setup: (g, { word }) => g.provide('greeting', { say: () => word }),
    })
    const user = definePlugin({ name: 'user', requires: ['provider'], setup: (g) => void log.push(g.use('greeting').say()) })
    const gateway = await boot([provider({ word: 'one' }), user()])
    await gateway.reload({ plugins: [provider({ word: 'two' }), user()] })
    expect(log).toEqual(['one', 'two'])
  })

  it('keeps a plugin whose optional service appears, and the plugin finds it', async () => {
    log.length = 0
    let say = (): string | undefined => undefined
    const user = definePlugin({
      name: 'user',
      setup(g) {
        log.push('+user')
        const greeting = g.optional('greeting')
        say = () => greeting()?.say()
        return () => void log.push('-user')
      },
    })
    const greeter = (word: string) =>
      definePlugin({ name: 'greeter', setup: (g) => g.provide('greeting', { say: () => word }) })()
    const gateway = await boot([user()])
    expect(say()).toBeUndefined()
    await gateway.reload({ plugins: [user(), greeter('hello')] })
    expect([say(), log]).toEqual(['hello', ['+user']])
    await gateway.reload({ plugins: [user(), greeter('bye')] })
    expect(say()).toBe('bye')
    await gateway.reload({ plugins: [user()] })
    expect(say()).toBeUndefined()
    await gateway.close()
  })

  it('tells a carried-over plugin about a setting that changed in the file', async () => {
    const seen: unknown[] = []
    const plugin = definePlugin({
      name: 'watcher',
      settings: { 'watcher.level': z.number().default(1) },
      setup(g) {
        seen.push(g.settings.get('watcher.level'))
        g.settings.watch('watcher.level', (value) => void seen.push(value, g.settings.get('watcher.level')))
      },
    })
    const gateway = await boot([plugin()])
    await gateway.reload({ plugins: [plugin()], settings: { 'watcher.level': 5 } })
    await expect(gateway.reload({ plugins: [plugin()], settings: { 'watcher.level': 'high' } })).rejects.toThrow(/watcher\.level/)
    expect(seen).toEqual([1, 5, 5])
  })

  it('what happens meanwhile is heard by one of the two: the old plugin until the swap, the new one from then on', async () => {
    const heard: string[] = []
    const plugin = definePlugin({
      name: 'listener',
      config: z.object({ word: z.string() }),
      setup(g, { word }) {
        g.events.on('test.happened', ({ n }) => void heard.push(`${word} ${n}`))
        g.events.emit('test.happened', { n: 1 })
        // Runs before the old generation is retired, which waits for its requests.
        g.hook('ready', () => g.events.emit('test.happened', { n: 2 }))
      },
    })
    const gateway = await boot([plugin({ word: 'old' })])
    await gateway.reload({ plugins: [plugin({ word: 'new' })] })
    expect(heard).toEqual(['old 1', 'old 2', 'old 1', 'new 2'])
  })

  it('runs `ready` for what the reload brought, and only for that', async () => {
    const ready: string[] = []
    const plugin = (name: string) => definePlugin({ name, setup: (g) => g.hook('ready', () => void ready.push(name)) })
    const [old, added] = [plugin('old'), plugin('added')]
    const gateway = await boot([old()])
    await gateway.reload({ plugins: [old(), added()] })
    expect(ready).toEqual(['old', 'added'])
  })

  it('a configuration that does not boot leaves the old generation serving', async () => {
    log.length = 0
    const a = logging('a')
    const gateway = await boot([a()])
    await expect(gateway.reload({ plugins: [a({ word: 'changed' }), logging('z', ['ghost'])()] })).rejects.toThrow(/ghost/)
    await expect(gateway.reload({ pluginz: [] })).rejects.toThrow(/pluginz/)
    expect(log).toEqual(['+a:x', '+a:changed', '-a'])
    expect((await gateway.fetch(new Request('http://x/nothing'))).status).toBe(404)
  })
})

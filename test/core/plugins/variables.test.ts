// Variables of third-party plugins: read, checked, listed and masked like those of the gateway itself.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createGateway } from '../../../adapters/node/gateway.ts'
import type { Env } from '../../../core/config/env.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'

interface Seen {
  options?: Record<string, unknown>
  loud?: unknown
}

function slowLog(seen: Seen = {}) {
  return definePlugin({
    name: 'slow-log',
    config: z.strictObject({
      overMs: z.int().min(10).max(60_000).default(1000),
      token: z.string().min(4).nullable().default(null),
      form: z.enum(['short', 'long']).default('short'),
      share: z.number().gt(0).max(1).default(1),
      routes: z.array(z.string().startsWith('/')).default(['/v1']),
      target: z.url().optional(),
    }),
    settings: { 'slow_log.loud': z.boolean().default(false) },
    variables: {
      SLOW_LOG_OVER_MS: { option: 'overMs', about: 'Requests that take longer are logged, ms.' },
      SLOW_LOG_TOKEN: { option: 'token', type: 'secret', about: 'Token of the collector.' },
      SLOW_LOG_FORM: { option: 'form', lenient: true, about: 'Form of a line.' },
      SLOW_LOG_SHARE: { option: 'share', about: 'Share of the requests that are timed.' },
      SLOW_LOG_ROUTES: { option: 'routes', emptyMeans: 'no route', about: 'Routes that are timed.' },
      SLOW_LOG_TARGET: { option: 'target', schemes: ['https'], fallback: 'COLLECTOR', about: 'Where lines go.' },
      SLOW_LOG_LOUD: { setting: 'slow_log.loud', about: 'Log at level warn.' },
    },
    setup(gateway, options) {
      seen.options = options
      seen.loud = gateway.settings.get('slow_log.loud')
    },
  })
}

async function boot(plugins: Plugin[], env: Record<string, string> = {}, config: object = {}): Promise<Env> {
  const gateway = await createGateway({ ...config, plugins }, { log: silentLog, env })
  await gateway.close()
  return gateway.env
}
const row = (env: Env, name: string) => env.all().find(({ variable }) => variable.name === name)

describe('variables of a plugin', () => {
  it('unset: the defaults of the schema hold, and the table shows them with type, range and plugin', async () => {
    const seen: Seen = {}
    const env = await boot([slowLog(seen)()])
    expect(seen).toEqual({
      options: { overMs: 1000, token: null, form: 'short', share: 1, routes: ['/v1'] },
      loud: false,
    })
    expect(row(env, 'SLOW_LOG_OVER_MS')).toMatchObject({
      value: 1000,
      source: 'default',
      variable: { plugin: 'slow-log', type: 'int', default: 1000, min: 10, max: 60_000 },
    })
    expect(row(env, 'SLOW_LOG_FORM')?.variable).toMatchObject({ type: 'enum', values: ['short', 'long'] })
    const types = ['TOKEN', 'SHARE', 'ROUTES', 'TARGET', 'LOUD'].map((name) => row(env, `SLOW_LOG_${name}`)?.variable.type)
    expect(types).toEqual(['secret', 'number', 'list', 'url', 'bool'])
  })

  it('set: they go above what the factory was given, and above `options` of the file', async () => {
    const seen: Seen = {}
    const env = {
      GATEWAY_SLOW_LOG_OVER_MS: '20',
      GATEWAY_SLOW_LOG_ROUTES: '',
      COLLECTOR: 'https://logs.example',
      GATEWAY_SLOW_LOG_LOUD: 'yes',
    }
    const options = { slowLogOverMs: 30, slowLogForm: 'long' }
    await boot([slowLog(seen)({ overMs: 40, form: 'short', share: 0.5 })], env, { options })
    expect(seen).toEqual({
      options: { overMs: 20, token: null, form: 'long', share: 0.5, routes: [], target: 'https://logs.example' },
      loud: true,
    })
  })

  it.each([
    ['OVER_MS', '5', /^GATEWAY_SLOW_LOG_OVER_MS: `5` is not a whole number of at least 10 and at most 60000\.$/],
    ['SHARE', '0', /^GATEWAY_SLOW_LOG_SHARE: the value must be more than 0\.$/],
    ['ROUTES', '/v1,v2', /^GATEWAY_SLOW_LOG_ROUTES: the value at 1 /],
    ['TARGET', 'http://logs.example', /^GATEWAY_SLOW_LOG_TARGET: the URL must begin with one of https:/],
    ['LOUD', 'maybe', /^GATEWAY_SLOW_LOG_LOUD: `maybe` is neither true nor false\.$/],
    ['TOKEN', 'abc', /^GATEWAY_SLOW_LOG_TOKEN: the value must be at least 4 characters\.$/],
  ])('a bad %s stops the boot and is named', async (name, value, message) => {
    await expect(boot([slowLog()()], { [`GATEWAY_SLOW_LOG_${name}`]: value })).rejects.toThrow(message)
  })

  it('a bad value is named beside those of the core', async () => {
    const env = { GATEWAY_PORT: 'x', GATEWAY_SLOW_LOG_OVER_MS: 'y' }
    await expect(boot([slowLog()()], env)).rejects.toThrow(/GATEWAY_PORT[\s\S]*GATEWAY_SLOW_LOG_OVER_MS/)
  })

  it('a bad value of a lenient one is a warning, and the default holds', async () => {
    const seen: Seen = {}
    const env = await boot([slowLog(seen)()], { GATEWAY_SLOW_LOG_FORM: 'huge' })
    expect(env.warnings).toEqual(['GATEWAY_SLOW_LOG_FORM: `huge` is not one of short, long. It is ignored.'])
    expect(seen.options?.form).toBe('short')
  })

  it('the message of a schema cannot repeat a secret', async () => {
    const telling = definePlugin({
      name: 'telling',
      config: z.object({
        key: z
          .string()
          .refine(() => false, { error: ({ input }) => `must not be ${input}` })
          .optional(),
      }),
      variables: { TELLING_KEY: { option: 'key', type: 'secret', about: 'A key.' } },
      setup() {},
    })
    const booting = boot([telling()], { GATEWAY_TELLING_KEY: 'hush-hush' })
    await expect(booting).rejects.toThrow(/^GATEWAY_TELLING_KEY: the value must not be \*\*\*\.$/)
  })

  it('a default that a transform does not take stays the schema’s', async () => {
    const seen: unknown[] = []
    const words = definePlugin({
      name: 'words',
      config: z.object({
        words: z
          .string()
          .transform((text) => text.split(' '))
          .default([]),
      }),
      variables: { WORDS: { option: 'words', about: 'Words.' } },
      setup: (_gateway, { words }) => void seen.push(words),
    })
    await boot([words()])
    await boot([words()], { GATEWAY_WORDS: 'a b' })
    expect(seen).toEqual([[], ['a', 'b']])
  })

  it('types know the options and settings of the plugin', () => {
    const about = 'X.'
    const config = z.object({ overMs: z.int().default(1) })
    const settings = { 'a.b': z.boolean().default(false) }
    definePlugin({ name: 'typed', config, settings, variables: { A: { setting: 'a.b', about } }, setup() {} })
    // @ts-expect-error There is no option of this name.
    definePlugin({ name: 'typed', config, settings, variables: { A: { option: 'over', about } }, setup() {} })
    // @ts-expect-error There is no setting of this name.
    definePlugin({ name: 'typed', config, settings, variables: { A: { setting: 'overMs', about } }, setup() {} })
  })

  it('an option of the file that names no variable is refused, also one of a plugin that is not there', async () => {
    await expect(boot([], {}, { options: { slowLogOverMs: 30 } })).rejects.toThrow(
      /there is no variable GATEWAY_SLOW_LOG_OVER_MS/,
    )
  })

  it('a reload that adds the plugin adds its variables', async () => {
    const seen: Seen = {}
    const gateway = await createGateway({ plugins: [] }, { log: silentLog, env: { GATEWAY_SLOW_LOG_OVER_MS: '20' } })
    expect(row(gateway.env, 'SLOW_LOG_OVER_MS')).toBeUndefined()
    await gateway.reload({ plugins: [slowLog(seen)()] })
    expect([row(gateway.env, 'SLOW_LOG_OVER_MS')?.source, seen.options?.overMs]).toEqual(['env', 20])
    await gateway.close()
  })
})

describe('a name that is declared twice stops the boot:', () => {
  const declaring = (name: string, variable: string) =>
    definePlugin({
      name,
      config: z.object({ word: z.string().default('x') }),
      variables: { [variable]: { option: 'word', about: 'A word.' } },
      setup() {},
    })()

  it('by two plugins', async () => {
    await expect(boot([declaring('one', 'WORD'), declaring('two', 'WORD')])).rejects.toThrow(
      /^The plugins `one` and `two` both declare the variable GATEWAY_WORD\.$/,
    )
  })

  it('by a plugin and the core', async () => {
    await expect(boot([declaring('one', 'PORT')])).rejects.toThrow(
      /^The plugin `one` declares the variable GATEWAY_PORT, which belongs to the core\.$/,
    )
  })
})

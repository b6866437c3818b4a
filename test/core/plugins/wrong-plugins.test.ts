// Invalid plugins: the boot error names the plugin and the fault.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PluginDefinition, PluginGateway } from '../../../core/types/plugin/plugin.ts'

type Loose = Record<string, unknown>
const made = (definition: Loose, options?: unknown) =>
  definePlugin({ name: 'mine', setup() {}, ...definition } as unknown as PluginDefinition)(options as never)
const boot = (definition: Loose, options?: unknown) => createGateway({ plugins: [made(definition, options)] }, { log: silentLog })
const inSetup = (setup: (gateway: PluginGateway) => void) => boot({ setup })
const any = (value: unknown) => value as never

const route = { method: 'GET', path: '/api/x', summary: 'X.', handler: () => ({}) }
const data = { method: 'POST', path: '/v1/x', operation: 'x', models: 'none', scope: 'none', handler: () => null }
const hooked = (options: Loose) => () => inSetup((g) => g.hook('request', () => {}, any(options)))
const api = (more: Loose) => () => inSetup((g) => g.api(any({ ...route, ...more })))
const served = (more: Loose) => () => inSetup((g) => g.data(any({ ...data, ...more })))
const variableOptions = z.object({ ms: z.int().default(1), any: z.unknown() })
const variable = (name: string, declared: Loose) => () => boot({ config: variableOptions, variables: { [name]: declared } })

const WRONG: Record<string, [() => Promise<unknown>, RegExp]> = {
  'no name': [() => boot({ name: undefined }), /`undefined` cannot be the name of a plugin/],
  'a name with a space': [() => boot({ name: 'My Plugin' }), /`My Plugin` cannot be the name of a plugin/],
  'no setup': [() => boot({ setup: undefined }), /`mine` is defined wrongly: `setup` must be a function/],
  'requires that is a text': [() => boot({ requires: 'other' }), /`mine` is defined wrongly: `requires`/],
  'a config that is no schema': [() => boot({ config: { a: 1 } }), /`mine` is defined wrongly: `config` must be a zod object/],
  'a setting that is no schema': [() => boot({ settings: { 'a.b': true } }), /`mine` is defined wrongly: `settings\['a\.b'\]`/],
  'options that are a text': [() => boot({ config: z.object({}) }, 'x'), /`mine` got wrong options: they must be an object/],
  'an asynchronous check': [
    () => boot({ config: z.object({ a: z.string().refine(async () => true) }) }, { a: 'x' }),
    /`mine` got wrong options: .*Promise/,
  ],
  'a variable that is not declared': [
    () => boot({ config: z.object({ token: z.string().optional().meta({ env: 'ACME_TOKEN' }) }) }),
    /`mine` takes `token` from GATEWAY_ACME_TOKEN, which is no variable of this gateway. Declare one of your own in `variables`/,
  ],
  'variables that are a list': [() => boot({ variables: [] }), /`mine` is defined wrongly: `variables` must be an object/],
  'a variable in small letters': [
    variable('overMs', { option: 'ms', about: 'X.' }),
    /`variables\.overMs` must be a name in capitals, without the prefix GATEWAY_, as `SLOW_LOG_MS`/,
  ],
  'a variable with the prefix': [variable('GATEWAY_OVER_MS', { option: 'ms', about: 'X.' }), /without the prefix GATEWAY_/],
  'a variable of no option': [variable('OVER_MS', { option: 'mss', about: 'X.' }), /must name a field of `config` in `option`/],
  'a variable of an option and a setting': [
    variable('OVER_MS', { option: 'ms', setting: 'a.b', about: 'X.' }),
    /must name a field of `config` in `option`, or a key of `settings` in `setting`/,
  ],
  'a variable without a meaning': [
    variable('OVER_MS', { option: 'ms' }),
    /`variables\.OVER_MS` must say in `about` what it sets/,
  ],
  'a type that is none': [
    variable('OVER_MS', { option: 'ms', about: 'X.', type: 'integer' }),
    /must have a `type` of string, int/,
  ],
  'a variable without a type': [
    variable('OVER_MS', { option: 'any', about: 'X.' }),
    /`variables\.OVER_MS` needs a `type`: the schema of `any` does not say one/,
  ],
  'two variables of one option': [
    () => boot({ config: variableOptions, variables: { A: { option: 'ms', about: 'X.' }, B: { option: 'ms', about: 'X.' } } }),
    /`variables\.B` is the second variable of the option `ms`/,
  ],
  'a band that is none': [
    hooked({ order: 'first' }),
    /`mine`, hook `request`: the option `order` must be `pre`, `normal` or `post`/,
  ],
  'a fail mode that is none': [hooked({ onError: 'ignore' }), /`onError` must be/],
  'a time that is a text': [hooked({ timeoutMs: '5s' }), /`timeoutMs` must be a number/],
  'a guard that is no function': [hooked({ when: true }), /`when` must be a function/],
  'an operation with a slip': [
    hooked({ operation: ['images', 'embedings'] }),
    /`mine`, hook `request`: the option `operation` must be an operation or a list of operations: chat, .*embeddings/,
  ],
  'an operation that objects inherit': [hooked({ operation: 'toString' }), /the option `operation` must be/],
  'a route of the gateway itself': [
    served({ path: '/v1/embeddings' }),
    /The plugin `mine` registers the route POST \/v1\/embeddings, and so does the gateway itself/,
  ],
  'a route of another plugin': [
    () =>
      createGateway({
        plugins: ['first', 'second'].map((name) => definePlugin({ name, setup: (g) => g.api(any(route)) })()),
      }),
    /The plugin `second` registers the route GET \/api\/x, and so does the plugin `first`/,
  ],
  'an option with a slip': [hooked({ failOpen: true }), /there is no option `failOpen`; there are order, before/],
  'a role that is none': [api({ role: 'admin' }), /GET \/api\/x of the plugin `mine` is wrong: the role must be one of public/],
  'a method in small letters': [api({ method: 'get' }), /the method must be one of GET/],
  'a route without a slash': [api({ path: 'api/x' }), /must begin with `\/`/],
  'a route of the data plane': [api({ path: '/v1/x' }), /gateway\.data\(\)/],
  'a parameter in braces': [api({ path: '/api/x/{id}' }), /a parameter is written `:id`/],
  'a route without a handler': [api({ handler: undefined }), /it has no handler/],
  'a data route elsewhere': [served({ path: '/x' }), /must lie below \/v1\//],
  'a data route that does nothing': [served({ handler: undefined }), /it needs `decode`/],
  'the name of no metric': [
    () => inSetup((g) => void g.metrics.counter('my-own', 'x')),
    /`gateway_my-own` cannot be the name of a metric/,
  ],
  'a metric of another kind': [
    () => inSetup((g) => void [g.metrics.counter('m', 'x'), g.metrics.gauge('m', 'x')]),
    /`gateway_m` is a counter without labels already/,
  ],
  'a metric by other labels': [
    () => inSetup((g) => void [g.metrics.counter('m', 'x', ['a']), g.metrics.tally('m', 'x', ['a'])]),
    /`gateway_m` is a counter by a already; a tally by a needs another name/,
  ],
  'a service of a plugin that it does not require': [
    () =>
      createGateway({
        plugins: [
          definePlugin({ name: 'giver', setup: (g) => g.provide(any('gift'), any({})) })(),
          definePlugin({ name: 'taker', setup: (g) => void g.use(any('gift')) })(),
        ],
      }),
    /`taker` uses the service `gift` of the plugin `giver` and does not require it. Write `requires: \['gift'\]`/,
  ],
  'a job without a time': [
    () => inSetup((g) => g.every('j', Number.NaN, async () => {})),
    /`j` of the plugin `mine` needs ms above 0/,
  ],
  'a configuration that is a promise': [
    () => createGateway(any(Promise.resolve({}))),
    /must be an object, and this is a promise: await it/,
  ],
  'a configuration that is a list': [() => createGateway(any([])), /it must be an object/],
  'no configuration': [() => createGateway(any(null)), /it must be an object/],
  'half a provider': [
    () => createGateway({ providers: [any({ id: 'x', dialectFor: () => 'chat' })] }),
    /providers\.0: made by defineProvider; it has no `aliases`/,
  ],
}

describe('is a boot error with a name:', () => {
  it.each(Object.entries(WRONG))('%s', async (_what, [booting, message]) => {
    await expect(booting()).rejects.toThrow(message)
  })
})

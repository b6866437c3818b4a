// The shape of gateway.config.ts, validated at boot and at every reload.
import { z } from 'zod'
import { pathOfNul } from '../json/nul-text.ts'
import { connectionCaps } from '../models/model-caps.ts'
import { WORDED_ONCE } from '../text/issue-text.ts'
import type { Plugin } from '../types/plugin/plugin.ts'
import type { ConnectionCaps, Provider } from '../types/ports/provider.ts'
import type { BuiltInDialect } from '../types/request/canonical.ts'
import type { ConfigOptions } from './option-types.ts'
import type { SecretRef } from './secret.ts'

/** Providers of the registry, by id; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by the registry and by providers as code
export interface ConfigProviders {}

/** Any id is accepted; editors complete the known ones. */
export type ProviderId = keyof ConfigProviders | 'custom' | (string & Record<never, never>)

export interface ConnectionConfig {
  /** A provider of the registry, `custom`, or any id with baseUrl and wireFormat. */
  provider: ProviderId
  /** Optional for providers that need no key. */
  apiKey?: string | SecretRef
  /** Everything before the operation path, as the vendor's SDK shows it. */
  baseUrl?: string
  wireFormat?: BuiltInDialect
  label?: string
  /** Globs over the bare model id; empty = all. */
  allowedModels?: string[]
  /** The lowest number is tried first; default: the order in the file. */
  priority?: number
  maxInflight?: number
  /** http, https or socks5; `direct` bypasses the global proxy. */
  proxyUrl?: string | SecretRef
  headers?: Record<string, string | SecretRef>
  defaultModel?: string
  /** Facts that override those of the model's family; `none`: no fact is known. */
  caps?: ConnectionCaps
  enabled?: boolean
  /** Labels that plugins read: `free_pool: true` shares the connection in the free pool. */
  metadata?: Record<string, string | number | boolean | null>
  /** Takes over the connection with this label that the API created. */
  adopt?: boolean
}

export interface Pinned<T> {
  readonly pinned: T
}

/** A setting that the API cannot change. */
export function pin<T>(value: T): Pinned<T> {
  return { pinned: value }
}

/** Sections that plugins own, by config key; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface ConfigSections {}

/** Settings that plugins declare, by key; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface ConfigSettings {}

/** Values by dotted key (`'breaker.cooldown_secs': 5`) or nested (`breaker: { cooldown_secs: 5 }`). */
export type SettingsTree<S> = { [K in keyof S]?: S[K] | Pinned<S[K]> } & {
  [H in HeadOf<keyof S>]?: SettingsTree<{ [K in keyof S as K extends `${H}.${infer Rest}` ? Rest : never]: S[K] }>
}

/** The same without `pin()`. */
export type SettingValues<S> = { [K in keyof S]?: S[K] } & {
  [H in HeadOf<keyof S>]?: SettingValues<{ [K in keyof S as K extends `${H}.${infer Rest}` ? Rest : never]: S[K] }>
}

type HeadOf<K> = K extends `${infer H}.${string}` ? H : never

export interface GatewayConfig extends Partial<ConfigSections> {
  profile?: 'local' | 'cloud'
  /** Default: preset(). The order of the list is the order of hooks within a band. */
  plugins?: Plugin[]
  /** By config key; for provider `custom` the key is the provider id. */
  connections?: Record<string, ConnectionConfig>
  /** Additional providers, as code. */
  providers?: Provider[]
  /** Values of settings. `pin(value)` overrides every other source. */
  settings?: SettingsTree<ConfigSettings>
  /** Sections that only this file may fill: their routes refuse to create rows (`['virtualModels']`). */
  exclusive?: string[]
  /** Boot options by the camelCase name of their GATEWAY_* variable (`streamHeartbeatMs`). The environment takes precedence. */
  options?: Partial<ConfigOptions>
}

/** A plugin by npm name or by path. A path is relative to the configuration file. */
export type PluginReference = string | { readonly plugin: string; readonly options?: Readonly<Record<string, unknown>> }

/** Content of a configuration file. It may contain plugins or name them. */
export type ConfigFile = Omit<GatewayConfig, 'plugins'> & { plugins?: (Plugin | PluginReference)[] }

/** Returns its argument, with types. Named plugins are resolved when the file is loaded. */
export function defineConfig(config: ConfigFile): GatewayConfig {
  return config as GatewayConfig
}

const secretSchema = z.union([
  z.string().min(1),
  z.object({ secret: z.enum(['env', 'file']), name: z.string().min(1) }),
  z.object({ secret: z.literal('plugin'), scheme: z.string().min(1), name: z.string().min(1) }),
])

const connectionSchema = z.strictObject({
  provider: z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, 'lower-case letters, digits, dots and dashes'),
  apiKey: secretSchema.optional(),
  baseUrl: z.url({ protocol: /^https?$/, message: 'an http or https URL' }).optional(),
  wireFormat: z.enum(['chat', 'messages', 'responses', 'generate_content']).optional(),
  label: z.string().optional(),
  allowedModels: z.array(z.string()).optional(),
  priority: z.int().min(-1_000_000).max(1_000_000).optional(),
  maxInflight: z.int().min(0).optional(),
  proxyUrl: secretSchema.optional(),
  headers: z.record(z.string(), secretSchema).optional(),
  defaultModel: z.string().optional(),
  caps: connectionCaps.optional(),
  enabled: z.boolean().optional(),
  metadata: z.record(z.string().max(100), z.union([z.string().max(1000), z.number(), z.boolean(), z.null()])).optional(),
  adopt: z.boolean().optional(),
})

/** Sections of plugins are validated after the plugins are set up. */
const sectionSchema = z.record(z.string().regex(/^[\w.-]{1,64}$/, 'letters, digits, dots and dashes'), z.unknown())

const configSchema = z
  .object({
    profile: z.enum(['local', 'cloud']).optional(),
    plugins: z
      .array(
        z.custom<Plugin>((value) => typeof value === 'object' && value !== null && 'definition' in value, {
          error: ({ input }) => noPlugin(input),
        }),
      )
      .optional(),
    connections: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i), connectionSchema).optional(),
    providers: z
      .array(
        z.custom<Provider>((value) => missingIn(value) === null, {
          error: ({ input }) => `made by defineProvider${missingIn(input) === '' ? '' : `; it has no \`${missingIn(input)}\``}`,
        }),
      )
      .optional(),
    settings: z.record(z.string(), z.unknown()).optional(),
    exclusive: z.array(z.string()).optional(),
    options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  })
  .catchall(sectionSchema)

/** Returns the first member that a provider lacks; '' when it is not an object; null when it is complete. */
function missingIn(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) return ''
  return ['id', 'aliases', 'dialects', 'quirks', 'caps', 'dialectFor', 'authorize'].find((name) => !(name in given)) ?? null
}

/** Returns the message for an entry of `plugins` that is not a plugin. */
function noPlugin(given: unknown): string {
  if (typeof given === 'function') return 'a factory; call it, as in `myPlugin()`'
  if (Array.isArray(given) && typeof given[0] === 'string')
    return `a list; write { plugin: '${given[0].slice(0, 100)}', options: { … } } for a plugin with options`
  if (Array.isArray(given)) return 'a list; spread it, as in `...preset()`'
  return 'made by definePlugin; plugins are named by package or path in a configuration file only, elsewhere by loadPlugin'
}

const OWN = new Set(Object.keys(configSchema.shape).filter((name) => name !== 'connections'))

/** Returns the sections that plugins turn into rows, `connections` included. */
export function sectionsOf(config: GatewayConfig): Record<string, Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => !OWN.has(name) && value !== undefined)) as Record<
    string,
    Record<string, unknown>
  >
}

/** Returns the file's values of variables, by camelCase name. */
export function fileOptions({ options, profile }: GatewayConfig): Record<string, string | number | boolean> {
  return { ...options, ...(profile === undefined ? {} : { profile }) }
}

/** @throws Error for a value whose spread is empty: a promise, a list, a function. */
export function refuseNoConfig(config: unknown): void {
  const plain = typeof config === 'object' && config !== null && !Array.isArray(config)
  if (plain && typeof (config as { then?: unknown }).then !== 'function') return
  throw new Error(`The configuration is wrong: it must be an object${plain ? ', and this is a promise: await it' : ''}.`)
}

/** Returns the validated configuration. @throws Error naming each wrong field by its path in the file. */
export function parseConfig(config: object): GatewayConfig {
  refuseNoConfig(config)
  const parsed = configSchema.safeParse(config, WORDED_ONCE)
  const issues = parsed.success ? nulIn(parsed.data) : parsed.error.issues
  if (parsed.success && issues.length === 0) return parsed.data as GatewayConfig
  const lines = issues.map((issue) => `${issue.path.join('.') || 'the config'}: ${issue.message}`)
  throw new Error(`The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** Skips plugins and providers: they are code. */
function nulIn({ plugins: _, providers: __, ...data }: object & Partial<Record<'plugins' | 'providers', unknown>>) {
  const path = pathOfNul(data)
  return path === null ? [] : [{ path, message: 'must not hold U+0000' }]
}

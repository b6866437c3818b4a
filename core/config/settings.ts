// Resolves runtime settings: plugins declare them and read them synchronously. Precedence: default < file < environment < runtime, unless
// the file pins the value.
import type { ZodType } from 'zod'
import { WORDED } from '../text/issue-text.ts'

export interface SettingSource {
  /** From the config file, by dotted key; a pinned value is `{ pinned }`. */
  readonly file: Readonly<Record<string, unknown>>
  /** Returns the value of this setting's variable; undefined: it has none, or it is not set. */
  env(key: string): { readonly variable: string; readonly value: unknown } | undefined
  /** Stored through the API, by dotted key. */
  readonly runtime: StoredSettings
}

/** Values by dotted key. */
export type StoredSettings = Readonly<Record<string, unknown>>

export interface SettingEntry {
  readonly value: unknown
  readonly source: 'default' | 'config' | 'env' | 'runtime' | 'organization'
  readonly pinned: boolean
  /** Message about a stored value that no longer fits its schema and was skipped. */
  readonly ignored?: string
}

/** @throws Error naming the setting whose configured value does not fit its schema, even when a stored value overrides it. */
export function resolveSetting(key: string, schema: ZodType, from: SettingSource): SettingEntry {
  const below = configured(key, schema, from)
  if (below.pinned || !Object.hasOwn(from.runtime, key)) return below
  const stored = schema.safeParse(from.runtime[key], WORDED)
  if (stored.success) return { value: stored.data, source: 'runtime', pinned: false }
  return { ...below, ignored: stored.error.issues[0]?.message ?? 'wrong value' }
}

/** Values of one organization by dotted key. */
export interface OwnSettings {
  /** Values that gateway.config.ts gives it. The organization cannot change them. */
  readonly file: StoredSettings
  /** Values that the organization stored. */
  readonly stored: StoredSettings
}

/** Returns the value of one organization; `below` is the gateway's. A pinned value holds for everyone. */
export function resolveOwn(key: string, schema: ZodType, below: SettingEntry, { file, stored }: OwnSettings): SettingEntry {
  const inFile = Object.hasOwn(file, key)
  if (below.pinned || !(inFile || Object.hasOwn(stored, key))) return below
  const parsed = schema.safeParse(inFile ? file[key] : stored[key], WORDED)
  if (parsed.success) return { value: parsed.data, source: inFile ? 'config' : 'organization', pinned: inFile }
  return { ...below, ignored: parsed.error.issues[0]?.message ?? 'wrong value' }
}

/** True: each organization may have a value of its own. */
export function differsByOrganization(schema: ZodType): boolean {
  return schema.meta()?.scope === 'organization'
}

function configured(key: string, schema: ZodType, from: SettingSource): SettingEntry {
  const inFile = from.file[key]
  if (isPinned(inFile)) return { value: check(key, schema, inFile.pinned), source: 'config', pinned: true }
  const inEnv = from.env(key)
  if (inEnv !== undefined && inEnv.value !== null)
    return { value: check(key, schema, inEnv.value, inEnv.variable), source: 'env', pinned: false }
  if (inFile !== undefined) return { value: check(key, schema, inFile), source: 'config', pinned: false }
  return { value: check(key, schema, undefined), source: 'default', pinned: false }
}

function isPinned(value: unknown): value is { pinned: unknown } {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 1 && Object.hasOwn(value, 'pinned')
}

function check(key: string, schema: ZodType, value: unknown, variable?: string): unknown {
  const parsed = schema.safeParse(value, WORDED)
  if (parsed.success) return parsed.data
  const place = variable === undefined ? '' : ` (from ${variable})`
  throw new Error(`settings.${key}${place}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`)
}

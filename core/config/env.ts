// Reads GATEWAY_* variables into typed values, each with its source. No other module reads the environment.

import type { Variable, VariableValue } from '../types/plugin/variables.ts'
import type { Logger } from '../types/ports/ports.ts'
import { VARIABLES } from './variables.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Resolved {
  readonly variable: Variable
  readonly value: VariableValue
  readonly source: 'default' | 'config' | 'env' | 'flag'
}

export interface Env {
  /** Returns the value, or the default; null when unset. @throws Error for a name that is not declared. */
  get<T extends VariableValue = VariableValue>(name: string): T
  /** True when the environment or a flag sets it, also to an empty value. */
  isSet(name: string): boolean
  all(): readonly Resolved[]
  /** Returns undefined for a name that is not declared. */
  resolved(name: string): Resolved | undefined
  /** Messages about invalid values of lenient variables, which were ignored. */
  readonly warnings: readonly string[]
}

export interface EnvLayers {
  environment: Environment
  /** `options` of the config file, by camelCase name. The environment takes precedence. */
  options?: Readonly<Record<string, string | number | boolean>>
  /** Command-line flags, by variable name. They take precedence over the environment. */
  flags?: Environment
  /** The declared variables; default: those of the core. */
  variables?: readonly Variable[]
}

/** @throws Error listing every bad variable by name, with its accepted values. */
export function readEnv({ environment, options = {}, flags = {}, variables = VARIABLES }: EnvLayers): Env {
  const resolved = new Map<string, Resolved>()
  const errors: string[] = []
  const warnings: string[] = []
  const fromFile = new Map(Object.entries(options).map(([key, value]) => [variableName(key), { key, value: String(value) }]))
  const known = new Set(variables.map(({ name }) => name))
  for (const [name, { key }] of fromFile) {
    if (!known.has(name)) errors.push(`options.${key}: there is no variable GATEWAY_${name}.`)
  }
  for (const variable of variables) {
    // An empty value does not override a lower-precedence source.
    const said = (text: string | undefined) => (text?.trim() === '' && variable.emptyMeans === undefined ? undefined : text)
    const flag = said(flags[variable.name])
    const inEnv =
      said(environment[`GATEWAY_${variable.name}`]) ?? (variable.fallback ? said(environment[variable.fallback]) : undefined)
    const inFile = fromFile.get(variable.name)
    const text = flag ?? inEnv ?? said(inFile?.value)
    if (text === undefined) {
      resolved.set(variable.name, { variable, value: variable.default, source: 'default' })
      continue
    }
    const value = accepted(variable, text.trim())
    if (!(value instanceof Error)) {
      resolved.set(variable.name, {
        variable,
        value,
        source: flag !== undefined ? 'flag' : inEnv !== undefined ? 'env' : 'config',
      })
      continue
    }
    const place = flag === undefined && inEnv === undefined ? `options.${inFile?.key}` : `GATEWAY_${variable.name}`
    const message = `${place}: ${value.message}`
    ;(variable.lenient ? warnings : errors).push(variable.lenient ? `${message} It is ignored.` : message)
    resolved.set(variable.name, { variable, value: variable.default, source: 'default' })
  }
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return {
    warnings,
    all: () => [...resolved.values()],
    resolved: (name) => resolved.get(name),
    isSet: (name) => resolved.get(name)?.source !== 'default',
    get: <T extends VariableValue>(name: string): T => {
      const entry = resolved.get(name)
      if (entry === undefined) throw new Error(`The variable GATEWAY_${name} is not declared.`)
      return entry.value as T
    },
  }
}

/** Logs the variables that a reload changed but that are read only at start. */
export function tellOfRestart(log: Logger, now: Env, started: Env): void {
  const before = new Map(started.all().map(({ variable: { name }, value }) => [name, value]))
  const later = now
    .all()
    .filter(({ variable: { name, atStart }, value }) => atStart && before.has(name) && before.get(name) !== value)
    .map(({ variable }) => variable)
  if (later.length === 0) return
  log.warn('config.needs_restart', {
    variables: later.map(({ name }) => `GATEWAY_${name}`),
    hint: 'What the file says of these counts from the next start on.',
  })
}

/** `streamHeartbeatMs` → `STREAM_HEARTBEAT_MS`. */
export function variableName(camelCase: string): string {
  return camelCase.replace(/[A-Z]/g, '_$&').toUpperCase()
}

function accepted(variable: Variable, text: string): VariableValue | Error {
  const value = parse(variable, text)
  if (value instanceof Error) return value
  const refusal = variable.check?.(value) ?? null
  if (refusal === null) return value
  // A schema's own message may contain the value.
  const shownRefusal = variable.type === 'secret' && text !== '' ? refusal.replaceAll(text, '***') : refusal
  return new Error(`the value ${shownRefusal}.`)
}

function parse(variable: Variable, text: string): VariableValue | Error {
  const { type, min, max, schemes } = variable
  if (type === 'int' || type === 'number') {
    const value = text === '' ? Number.NaN : Number(text)
    const range = `${min !== undefined ? ` of at least ${min}` : ''}${max !== undefined ? ` and at most ${max}` : ''}`
    const bad = !Number.isFinite(value) || (type === 'int' && !Number.isSafeInteger(value))
    if (bad || (min !== undefined && value < min) || (max !== undefined && value > max)) {
      return new Error(`\`${shown(variable, text)}\` is not ${type === 'int' ? 'a whole number' : 'a number'}${range}.`)
    }
    return value
  }
  if (type === 'bool') {
    const word = text.toLowerCase()
    if (['true', '1', 'yes', 'on'].includes(word)) return true
    if (['false', '0', 'no', 'off'].includes(word)) return false
    return new Error(`\`${text.slice(0, 60)}\` is neither true nor false.`)
  }
  if (type === 'enum')
    return variable.values?.includes(text)
      ? text
      : new Error(`\`${text.slice(0, 60)}\` is not one of ${variable.values?.join(', ')}.`)
  if (type === 'list') return list(text)
  if (type === 'json') {
    try {
      return JSON.parse(text) as VariableValue
    } catch {
      return new Error('the value is not JSON.')
    }
  }
  if (type === 'url' && !URL.canParse(text)) return new Error('the value is not a URL.')
  // Report the allowed schemes, not the text: it may contain credentials.
  if (schemes !== undefined && !schemes.includes(new URL(text).protocol.slice(0, -1)))
    return new Error(`the URL must begin with one of ${schemes.map((scheme) => `${scheme}://`).join(', ')}.`)
  return text
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function shown(variable: Variable, text: string): string {
  return variable.type === 'secret' ? '***' : text.slice(0, 60)
}

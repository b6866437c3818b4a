// Registers hooks: one hookable instance holds every handler, with the plugin and options beside it.
import { Hookable } from 'hookable'
import type { GatewayHooks, HookName, HookOptions, OperationHookOptions } from '../types/plugin/hooks.ts'
import type { Operation } from '../types/request/canonical.ts'
import { HOOK_NAMES, HOOKS } from './catalogue.ts'

// biome-ignore lint/suspicious/noExplicitAny: one bag for every signature; GatewayHooks types both ends
export type AnyHandler = (...args: any[]) => any

export interface Registration {
  readonly plugin: string
  readonly hook: HookName
  readonly fn: AnyHandler
  readonly options: HookOptions
  /** null: all operations. */
  readonly operations: ReadonlySet<Operation> | null
}

// Checks a plugin's hook registrations. An unknown option is an error, because a misspelled one would silently change when a plugin runs.
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isNames = (value: unknown): boolean => [value].flat().every((name) => typeof name === 'string')
const isOperations = (value: unknown): boolean =>
  [value].flat().every((name) => typeof name === 'string' && Object.hasOwn(OPERATIONS, name))

const OPERATIONS: Readonly<Record<Operation, true>> = {
  chat: true,
  count_tokens: true,
  compact: true,
  completions: true,
  embeddings: true,
  rerank: true,
  moderations: true,
  ocr: true,
  images: true,
  speech: true,
  transcription: true,
  search: true,
  web_fetch: true,
  batches: true,
  responses: true,
  models: true,
}

const OPTIONS: Readonly<Record<keyof OperationHookOptions, [fits: (value: unknown) => boolean, what: string]>> = {
  order: [(value) => value === 'pre' || value === 'normal' || value === 'post', '`pre`, `normal` or `post`'],
  before: [isNames, 'names of plugins'],
  after: [isNames, 'names of plugins'],
  onError: [(value) => value === 'closed' || value === 'open', '`closed` or `open`'],
  timeoutMs: [(value) => Number.isFinite(value) && Number(value) > 0, 'a number above 0'],
  when: [isFunction, 'a function'],
  operation: [isOperations, `an operation or a list of operations: ${Object.keys(OPERATIONS).join(', ')}`],
}

/** @throws Error naming plugin, hook and option. */
function checkHook(plugin: string, hook: string, fn: unknown, options: object): void {
  if (!Object.hasOwn(HOOKS, hook))
    throw new Error(`Plugin \`${plugin}\` registers the unknown hook \`${hook}\`. Hooks are: ${HOOK_NAMES.join(', ')}.`)
  if (!isFunction(fn)) throw new Error(`Plugin \`${plugin}\` registers \`${hook}\` without a function.`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name))
      throw new Error(
        `Plugin \`${plugin}\`, hook \`${hook}\`: there is no option \`${name}\`; there are ${Object.keys(OPTIONS).join(', ')}.`,
      )
    const [fits, what] = OPTIONS[name as keyof OperationHookOptions]
    if (value !== undefined && !fits(value))
      throw new Error(`Plugin \`${plugin}\`, hook \`${hook}\`: the option \`${name}\` must be ${what}.`)
  }
}

/** Returns the registration. @throws Error naming plugin, hook and problem. */
export function registration<K extends HookName>(
  plugin: string,
  hook: K,
  fn: GatewayHooks[K],
  options: HookOptions & Partial<OperationHookOptions> = {},
): Registration {
  checkHook(plugin, hook, fn, options)
  const { operation } = options
  return {
    plugin,
    hook,
    fn: fn as AnyHandler,
    options: { ...options },
    operations: operation === undefined ? null : new Set([operation].flat()),
  }
}

export class HookRegistry {
  readonly #hookable = new Hookable<Record<HookName, AnyHandler>>()
  readonly #byHandler = new WeakMap<AnyHandler, Registration>()

  add(entry: Registration): () => void {
    // Each registration gets its own closure: the same function may be registered twice with different options.
    const handler: AnyHandler = (...args) => entry.fn(...args)
    this.#byHandler.set(handler, entry)
    return this.#hookable.hook(entry.hook, handler as never)
  }

  /** Returns the registrations of one hook in their order. */
  of(hook: HookName): Registration[] {
    const handlers = this.#hookable.callHookWith((fns: AnyHandler[]) => [...fns], hook, [] as never) as AnyHandler[] | undefined
    return (handlers ?? []).map((handler) => this.#byHandler.get(handler)).filter((entry) => entry !== undefined)
  }
}

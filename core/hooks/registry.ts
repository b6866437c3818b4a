// Registration: one hookable instance holds every handler; who registered it and how lies beside it.
import { Hookable } from 'hookable'
import type { GatewayHooks, HookName, HookOptions } from '../types/hooks.ts'
import { checkHook } from './check-hook.ts'

// biome-ignore lint/suspicious/noExplicitAny: one bag for every signature; GatewayHooks types both ends
export type AnyHandler = (...args: any[]) => any

export interface Registration {
  readonly plugin: string
  readonly hook: HookName
  readonly fn: AnyHandler
  readonly options: HookOptions
}

/** @throws Error naming plugin, hook and what is wrong. */
export function registration<K extends HookName>(
  plugin: string,
  hook: K,
  fn: GatewayHooks[K],
  options: HookOptions = {},
): Registration {
  checkHook(plugin, hook, fn, options)
  return { plugin, hook, fn: fn as AnyHandler, options }
}

export class HookRegistry {
  readonly #hookable = new Hookable<Record<HookName, AnyHandler>>()
  readonly #byHandler = new WeakMap<AnyHandler, Registration>()

  add(entry: Registration): () => void {
    // A closure of its own: the same function may be registered twice with different options.
    const handler: AnyHandler = (...args) => entry.fn(...args)
    this.#byHandler.set(handler, entry)
    return this.#hookable.hook(entry.hook, handler as never)
  }

  /** Registrations of one hook in the order they were made. */
  of(hook: HookName): Registration[] {
    const handlers = this.#hookable.callHookWith((fns: AnyHandler[]) => [...fns], hook, [] as never) as AnyHandler[] | undefined
    return (handlers ?? []).map((handler) => this.#byHandler.get(handler)).filter((entry) => entry !== undefined)
  }
}

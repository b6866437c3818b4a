// Validates a plugin's hook registrations before they are sealed. An unknown option would silently change when, or whether, a plugin runs.
import type { HookOptions } from '../types/hooks.ts'
import { HOOK_NAMES, HOOKS } from './catalogue.ts'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isNames = (value: unknown): boolean => [value].flat().every((name) => typeof name === 'string')

const OPTIONS: Readonly<Record<keyof HookOptions, [fits: (value: unknown) => boolean, what: string]>> = {
  order: [(value) => value === 'pre' || value === 'normal' || value === 'post', '`pre`, `normal` or `post`'],
  before: [isNames, 'names of plugins'],
  after: [isNames, 'names of plugins'],
  onError: [(value) => value === 'closed' || value === 'open', '`closed` or `open`'],
  timeoutMs: [(value) => Number.isFinite(value) && Number(value) > 0, 'a number above 0'],
  when: [isFunction, 'a function'],
}

/** @throws Error naming plugin, hook and option. */
export function checkHook(plugin: string, hook: string, fn: unknown, options: object): void {
  if (!Object.hasOwn(HOOKS, hook))
    throw new Error(`Plugin \`${plugin}\` registers the unknown hook \`${hook}\`. Hooks are: ${HOOK_NAMES.join(', ')}.`)
  if (!isFunction(fn)) throw new Error(`Plugin \`${plugin}\` registers \`${hook}\` without a function.`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name))
      throw new Error(
        `Plugin \`${plugin}\`, hook \`${hook}\`: there is no option \`${name}\`; there are ${Object.keys(OPTIONS).join(', ')}.`,
      )
    const [fits, what] = OPTIONS[name as keyof HookOptions]
    if (value !== undefined && !fits(value))
      throw new Error(`Plugin \`${plugin}\`, hook \`${hook}\`: the option \`${name}\` must be ${what}.`)
  }
}

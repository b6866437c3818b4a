// Finds the gateway's path for a request to an intercepted host, and the model that an alias names.

import type { InterceptedHost } from './options.ts'
import type { InterceptionState } from './state-file.ts'

export interface Inference {
  /** The path of the gateway. */
  readonly path: string
  readonly query: string
}

/** Returns null for a request that is passed on. @param target path and query as sent */
export function inferenceOf({ inference }: InterceptedHost, method: string, target: string): Inference | null {
  if (method !== 'POST' || !target.startsWith('/')) return null
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : target.slice(mark + 1)
  for (const { path: pattern, to = pattern } of inference) {
    if (!pattern.endsWith('*')) {
      if (path === pattern) return { path: to, query }
      continue
    }
    const prefix = pattern.slice(0, -1)
    if (!path.startsWith(prefix) || path.length === prefix.length) continue
    return { path: to.endsWith('*') ? to.slice(0, -1) + path.slice(prefix.length) : to, query }
  }
  return null
}

/** Returns undefined when the model has no alias. */
export function aliasOf(aliases: InterceptionState['aliases'], tool: string, model: string): string | undefined {
  const own = Object.hasOwn(aliases, tool) ? (aliases[tool] ?? {}) : {}
  return Object.hasOwn(own, model) ? own[model] : own['*']
}

const MODEL_IN_PATH = /^(\/v1beta\/models\/)([^:]+)(:[a-zA-Z]+)$/

/** Returns a path with the alias of the model that is in it; the same path when it has none. */
export function aliasedPath(path: string, alias: (model: string) => string | undefined): string {
  return path.replace(MODEL_IN_PATH, (all, head: string, model: string, verb: string) => {
    const other = alias(decoded(model))
    return other === undefined ? all : `${head}${encodeURIComponent(other).replaceAll('%2F', '/')}${verb}`
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

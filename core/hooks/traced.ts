// Wraps a handler with timing when tracing is on. Decided when hooks are sealed, so that requests without tracing pay nothing.
import type { HookTracer } from '../services.ts'
import type { RequestContext } from '../types/context.ts'
import type { Clock } from '../types/ports.ts'
import type { Registration } from './registry.ts'
import { isThenable } from './returned.ts'

/** Hooks of a request that do one thing at one time; the events of a stream are no spans. */
const TRACED: ReadonlySet<string> = new Set([
  ...['ingress', 'authenticate', 'access', 'resolve', 'request', 'answer', 'admit', 'reserve', 'candidates', 'call', 'attempt'],
  ...['prepare', 'encoded', 'response', 'settle'],
])

export function traced(entry: Registration, tracer: HookTracer, clock: Clock): Registration {
  if (!TRACED.has(entry.hook) || entry.plugin === tracer.plugin) return entry
  const { plugin, hook, fn } = entry
  const run = (...args: unknown[]): unknown => {
    const ctx = args[0] as RequestContext
    if (!tracer.wants(ctx)) return fn(...args)
    const startedAt = clock.now()
    const from = clock.monotonic()
    const ended = (error: unknown) => tracer.ran(ctx, { plugin, hook, startedAt, ms: clock.monotonic() - from, error })
    let returned: unknown
    try {
      returned = fn(...args)
    } catch (error) {
      ended(error)
      throw error
    }
    if (!isThenable(returned)) {
      ended(undefined)
      return returned
    }
    return returned.then(
      (value) => {
        ended(undefined)
        return value
      },
      (error: unknown) => {
        ended(error)
        throw error
      },
    )
  }
  return { ...entry, fn: run }
}

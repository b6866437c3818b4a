// Types of the measurement of plugins' handlers.
import type { RequestContext } from '../request/context.ts'

/** One run of a plugin's handler. */
export interface HookRun {
  readonly plugin: string
  readonly hook: string
  /** Epoch ms. */
  readonly startedAt: number
  /** Time spent in the handler itself, without the handlers that it wraps. */
  readonly ms: number
  /** undefined: the handler returned normally. */
  readonly error: unknown
  /** The arguments of the handler. */
  readonly args: readonly unknown[]
  readonly returned: unknown
  /** The value of `begins`. */
  readonly before: unknown
}

/** Measures the time of plugins. A tracing plugin provides it, or the host; core looks it up when hooks are sealed. */
export interface HookTracer {
  /** The name of the tracing plugin, which is not traced itself. */
  readonly plugin: string
  wants(ctx: RequestContext): boolean
  /** Called before the handler. The run gets the returned value as `before`. */
  begins?(ctx: RequestContext, hook: string, args: readonly unknown[]): unknown
  ran(ctx: RequestContext, run: HookRun): void
}

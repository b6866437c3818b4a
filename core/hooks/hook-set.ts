// The hooks of one generation, and copies of them with a tracer of one request.
import type { HookTracer } from '../types/plugin/hook-tracer.ts'
import { type CompiledHooks, compileHooks } from './compile.ts'
import type { GuardEnv } from './guard.ts'
import type { HookRegistry } from './registry.ts'

export interface HookSet {
  readonly hooks: CompiledHooks
  /** Returns the same hooks with a tracer that also gets every run. */
  tracedHooks(tracer: HookTracer): CompiledHooks
}

/**
 * @param tracers that of the host, and that of a plugin.
 * @throws Error naming hook and plugins when before/after form a cycle.
 */
export function hookSet(registry: HookRegistry, guard: GuardEnv, tracers: readonly (HookTracer | undefined)[]): HookSet {
  const [host, plugin] = tracers
  const tracer = host !== undefined && plugin !== undefined ? bothTracers(host, plugin) : (host ?? plugin)
  return {
    hooks: compileHooks(registry, guard, tracer),
    tracedHooks: (own) => compileHooks(registry, guard, tracer === undefined ? own : bothTracers(own, tracer)),
  }
}

/** `own` wants every run; the other one decides for itself. */
function bothTracers(own: HookTracer, other: HookTracer): HookTracer {
  return {
    ...(other.begins === undefined ? {} : { begins: other.begins }),
    ...own,
    ran(ctx, run) {
      own.ran(ctx, run)
      if (run.plugin !== other.plugin && other.wants(ctx)) other.ran(ctx, run)
    },
  }
}

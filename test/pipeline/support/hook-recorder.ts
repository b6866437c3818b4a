// A plugin on every hook of the catalogue that counts how often each ran for each request, and can be made to fail.
import { HOOK_NAMES } from '../../../core/hooks/catalogue.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { HookName } from '../../../core/types/plugin/hooks.ts'
import type { Plugin, PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'

export type RequestHook = Exclude<HookName, 'ready' | 'close'>
export const REQUEST_HOOKS = HOOK_NAMES.filter((name): name is RequestHook => name !== 'ready' && name !== 'close')

export interface Recorder {
  readonly plugin: Plugin
  /** Returns counts by request id. */
  of(id: string): Record<string, number>
  /** Every hook in its order, for the latest request. */
  readonly order: string[]
  /** Lease names in the order of settlement, for the latest request. */
  readonly leases: string[]
  readonly lifecycle: Record<'ready' | 'close', number>
  /** Runs inside the hook, after the count; its return value is the hook's, if the hook has one. */
  behave: Partial<Record<RequestHook, (ctx: RequestContext) => unknown>>
  /** Number of events that passed the stream transform. */
  events: number
  /** Whether the stream hook's transform only watches. */
  passive: boolean
}

export function hookRecorder(name = 'recorder'): Recorder {
  const counts = new Map<string, Record<string, number>>()
  const recorder: Recorder = {
    order: [],
    leases: [],
    lifecycle: { ready: 0, close: 0 },
    behave: {},
    events: 0,
    passive: true,
    of: (id) => counts.get(id) ?? {},
    plugin: definePlugin({ name, setup: (gateway) => register(gateway) })(),
  }

  function fired(hook: RequestHook, ctx: RequestContext): unknown {
    const count = counts.get(ctx.id) ?? {}
    counts.set(ctx.id, count)
    count[hook] = (count[hook] ?? 0) + 1
    if (hook === 'ingress') {
      recorder.order.length = recorder.leases.length = 0
      recorder.events = 0
    }
    recorder.order.push(hook)
    if (LEASED.includes(hook)) {
      const lease = `${hook}#${count[hook]}`
      ctx.hold({ settle: () => void recorder.leases.push(lease) })
    }
    return recorder.behave[hook]?.(ctx)
  }

  function register(gateway: PluginGateway): void {
    for (const hook of ['ingress', 'access', 'request', 'admit', 'reserve', 'prepare', 'encoded', 'settle', 'settled'] as const)
      gateway.hook(hook, (ctx: RequestContext) => fired(hook, ctx) as undefined)
    for (const hook of ['authenticate', 'resolve', 'answer', 'candidates', 'response', 'stream:batch'] as const)
      gateway.hook(
        hook,
        ((ctx: RequestContext) => fired(hook, ctx)) as never,
        hook === 'stream:batch' ? { when: () => batching() } : {},
      )
    gateway.hook('call', async (ctx, next) => ((await fired('call', ctx)) as Result | undefined) ?? next())
    gateway.hook('attempt', async (ctx, _candidate, next) => ((await fired('attempt', ctx)) as Result | undefined) ?? next())
    gateway.hook('stream', (ctx) => {
      fired('stream', ctx)
      return {
        ...(recorder.passive ? { passive: true as const } : {}),
        event(event, emit) {
          recorder.events++
          emit(event)
        },
      }
    })
    gateway.hook('ready', () => void recorder.lifecycle.ready++)
    gateway.hook('close', () => void recorder.lifecycle.close++)
  }
  // A batch stage ends the byte lane, so only tests with `passive` false have it.
  const batching = () => !recorder.passive
  return recorder
}

/** Hooks that take a lease, one per run. */
const LEASED: readonly string[] = ['ingress', 'access', 'admit', 'attempt', 'encoded']

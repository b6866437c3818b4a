// The closed list of hooks with the kind and default fail mode of each. A name outside this list is a boot error.
import type { HookName } from '../types/plugin/hooks.ts'

/**
 * series: every handler runs; first: the first answer wins; reduce: each may replace the value; wrap: nested layers; stream: transforms;
 * observe: never fails.
 */
export type HookKind = 'series' | 'first' | 'reduce' | 'wrap' | 'stream' | 'observe'

export interface HookSpec {
  readonly kind: HookKind
  /** Effect of a bug or a timeout when the plugin declares none. */
  readonly onError: 'closed' | 'open'
  /** Default timeout when the plugin sets none, for hooks that others wait for. */
  readonly timeoutMs?: number
  /** True: the default of GATEWAY_HOOK_TIMEOUT_MS applies. Other hooks may wait for an upstream, or are not awaited. */
  readonly bounded?: true
}

export const HOOKS: Readonly<Record<HookName, HookSpec>> = {
  ingress: { kind: 'series', onError: 'closed', bounded: true },
  authenticate: { kind: 'first', onError: 'closed', bounded: true },
  access: { kind: 'series', onError: 'closed', bounded: true },
  resolve: { kind: 'first', onError: 'closed', bounded: true },
  request: { kind: 'series', onError: 'closed', bounded: true },
  answer: { kind: 'first', onError: 'open' },
  admit: { kind: 'series', onError: 'closed', bounded: true },
  reserve: { kind: 'series', onError: 'closed', bounded: true },
  candidates: { kind: 'reduce', onError: 'closed', bounded: true },
  call: { kind: 'wrap', onError: 'closed' },
  attempt: { kind: 'wrap', onError: 'closed' },
  prepare: { kind: 'series', onError: 'closed', bounded: true },
  encoded: { kind: 'series', onError: 'closed', bounded: true },
  stream: { kind: 'stream', onError: 'closed' },
  'stream:batch': { kind: 'reduce', onError: 'closed', bounded: true },
  response: { kind: 'reduce', onError: 'closed', bounded: true },
  settle: { kind: 'series', onError: 'closed' },
  settled: { kind: 'observe', onError: 'open' },
  ready: { kind: 'series', onError: 'closed' },
  close: { kind: 'observe', onError: 'open', timeoutMs: 10_000 },
}

export const HOOK_NAMES = Object.keys(HOOKS) as HookName[]

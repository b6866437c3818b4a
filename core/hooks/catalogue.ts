// The closed list of hooks with the kind and default fail mode of each. A name outside this list is a boot error.
import type { HookName } from '../types/hooks.ts'

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
}

export const HOOKS: Readonly<Record<HookName, HookSpec>> = {
  ingress: { kind: 'series', onError: 'closed' },
  authenticate: { kind: 'first', onError: 'closed' },
  access: { kind: 'series', onError: 'closed' },
  resolve: { kind: 'first', onError: 'closed' },
  request: { kind: 'series', onError: 'closed' },
  answer: { kind: 'first', onError: 'open' },
  admit: { kind: 'series', onError: 'closed' },
  reserve: { kind: 'series', onError: 'closed' },
  candidates: { kind: 'reduce', onError: 'closed' },
  call: { kind: 'wrap', onError: 'closed' },
  attempt: { kind: 'wrap', onError: 'closed' },
  prepare: { kind: 'series', onError: 'closed' },
  encoded: { kind: 'series', onError: 'closed' },
  stream: { kind: 'stream', onError: 'closed' },
  'stream:batch': { kind: 'reduce', onError: 'closed' },
  response: { kind: 'reduce', onError: 'closed' },
  settle: { kind: 'series', onError: 'closed' },
  settled: { kind: 'observe', onError: 'open' },
  ready: { kind: 'series', onError: 'closed' },
  close: { kind: 'observe', onError: 'open', timeoutMs: 10_000 },
}

export const HOOK_NAMES = Object.keys(HOOKS) as HookName[]

// The closed list of hooks: kind and default fail mode of each. A name that is not here is a boot error.
import type { HookName } from '../types/hooks.ts'

/** series: every handler; first: until one answers; reduce: each may replace the value; wrap: onion; stream: transforms; observe: never fails. */
export type HookKind = 'series' | 'first' | 'reduce' | 'wrap' | 'stream' | 'observe'

export interface HookSpec {
  readonly kind: HookKind
  /** Effect of a bug or a timeout when the plugin does not declare one. */
  readonly onError: 'closed' | 'open'
  /** Where a plugin names none: others wait for it. */
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

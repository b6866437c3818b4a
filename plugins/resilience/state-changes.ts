// Emits `account.state_changed` when a part of an account's state changes: circuit, cooldown, quota, credential. Time alone emits nothing:
// `until` says when a state ends.
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { AccountState } from './accounts/account-state.ts'

interface Part {
  readonly state: string
  /** Monotonic ms. */
  readonly until: number | null
}

type Parts = Readonly<Record<'breaker' | 'cooldown' | 'quota' | 'credential', Part>>

const AT_REST: Parts = {
  breaker: { state: 'closed', until: null },
  cooldown: { state: 'ended', until: null },
  quota: { state: 'available', until: null },
  credential: { state: 'accepted', until: null },
}
/** Times that other processes share differ by less. */
const SAME_MS = 1000

/** @param ownerOf undefined: the account was removed. Call the returned function after each change. */
export function stateChanges(
  { clock, events }: Pick<PluginGateway, 'clock' | 'events'>,
  ownerOf: (id: string) => { orgId: number | null; provider: string } | undefined,
): (state: AccountState) => void {
  const told = new Map<string, Parts>()
  return (state) => {
    const now = clock.monotonic()
    const before = told.get(state.id) ?? AT_REST
    const parts = partsOf(state, now)
    told.set(state.id, parts)
    const owner = ownerOf(state.id)
    if (owner === undefined) return
    for (const kind of KINDS) {
      if (isSame(before[kind], parts[kind])) continue
      const { state: is, until } = parts[kind]
      const ends = until === null ? null : Math.round(clock.now() + until - now)
      const change = { kind, account_id: state.id, provider: owner.provider, state: is, until: ends }
      events.emit('account.state_changed', change, { orgId: owner.orgId })
    }
  }
}

const KINDS = Object.keys(AT_REST) as (keyof Parts)[]

function partsOf({ breaker, cooldown, quotaUntil, refused }: AccountState, now: number): Parts {
  const circuit = breaker.circuit(now)
  return {
    breaker: circuit === 'closed' ? AT_REST.breaker : { state: circuit, until: circuit === 'open' ? breaker.openUntil : null },
    cooldown: cooldown !== null && cooldown.until > now ? { state: 'cooling', until: cooldown.until } : AT_REST.cooldown,
    quota: quotaUntil !== null && quotaUntil > now ? { state: 'exhausted', until: quotaUntil } : AT_REST.quota,
    credential: refused === null ? AT_REST.credential : { state: 'refused', until: null },
  }
}

function isSame(a: Part, b: Part): boolean {
  return a.state === b.state && Math.abs((a.until ?? 0) - (b.until ?? 0)) < SAME_MS
}

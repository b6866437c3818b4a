// Keeps a session on the account that answered it last, while that account has quota. Sessions come only from headers, because pinning by
// content would concentrate load. Pins are in memory; the least recently used are removed first. With a shared store each pin is also
// written there and read before the session's next request: one read, and none without a session.

import { z } from 'zod'
import type { KeyValueStore } from '../../../core/types/ports/ports.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import type { CompiledModel } from './compiled-model.ts'

const MAX_SESSIONS = 10_000
/** Below this fraction of quota, an account serves only requests without another one. */
const LEAST_HEADROOM = 0.15

interface Pin {
  readonly target: string
  readonly connectionId: string
  /** Monotonic ms. */
  until: number
}

const sharedPin = z.object({ target: z.string(), connection: z.string() })

export interface StickySessions {
  /** Reads where another process has pinned the session; undefined: there is nothing to wait for. */
  fetched(ctx: RequestContext, compiled: CompiledModel): Promise<void> | undefined
  /** Returns the candidates with the session's own first, if present. */
  preferred(ctx: RequestContext, compiled: CompiledModel, candidates: Candidate[]): Candidate[]
  /** Records that `candidate` answered. */
  answered(ctx: RequestContext, compiled: CompiledModel, candidate: Candidate): void
}

export interface StickyOptions {
  /** Returns ms. */
  readonly monotonic: () => number
  /** Returns 0 to 1; null: unknown. */
  readonly quotaLeft: (connection: Connection, model: string) => number | null
  /** null: pins are not shared. */
  readonly storage: KeyValueStore | null
  readonly unshared: (error: unknown) => void
}

export function stickySessions({ monotonic, quotaLeft, storage, unshared }: StickyOptions): StickySessions {
  const pins = new Map<string, Pin>()
  const keyOf = (ctx: RequestContext, { id, config }: CompiledModel): string | null => {
    const session = config.sessionSticky ? ctx.sessionId : null
    return session === null ? null : `${ctx.principal.orgId} ${id} ${session}`
  }
  const pin = (key: string, target: string, connectionId: string, { config }: CompiledModel): void => {
    pins.delete(key)
    pins.set(key, { target, connectionId, until: monotonic() + config.stickyTtlSecs * 1000 })
    if (pins.size > MAX_SESSIONS) pins.delete(pins.keys().next().value as string)
  }
  return {
    fetched(ctx, compiled) {
      const key = storage === null ? null : keyOf(ctx, compiled)
      if (storage === null || key === null) return undefined
      return storage.getItem(sharedKey(key)).then((found) => {
        const there = sharedPin.safeParse(found)
        // Another process may have pinned the session.
        if (there.success) pin(key, there.data.target, there.data.connection, compiled)
      }, unshared)
    },
    preferred(ctx, compiled, candidates) {
      const key = keyOf(ctx, compiled)
      const known = key === null ? undefined : pins.get(key)
      if (known === undefined || known.until <= monotonic()) return candidates
      const mine = candidates.find(
        ({ target, connection }) => connection.id === known.connectionId && nameOf(target) === known.target,
      )
      if (mine === undefined || (quotaLeft(mine.connection, mine.target.model) ?? 1) < LEAST_HEADROOM) return candidates
      return [mine, ...candidates.filter((candidate) => candidate !== mine)]
    },
    answered(ctx, compiled, { target, connection }) {
      const key = keyOf(ctx, compiled)
      if (key === null) return
      pin(key, nameOf(target), connection.id, compiled)
      const value = { target: nameOf(target), connection: connection.id }
      storage?.setItem(sharedKey(key), value, { ttl: compiled.config.stickyTtlSecs }).catch(unshared)
    },
  }
}

function nameOf({ provider, model }: Candidate['target']): string {
  return `${provider}/${model}`
}

/** Encodes callers' ids, because slashes, colons and question marks have a meaning in the store. */
function sharedKey(key: string): string {
  return `session:${encodeURIComponent(key)}`
}

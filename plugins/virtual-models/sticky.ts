// A session stays with the account that answered it last (CONTRACTS 1.5). By header only: what is pinned by content surprises
// whoever wanted the load spread. In memory, the longest unused forgotten first.
import type { Candidate, RequestContext } from '../../core/types/context.ts'
import type { Recipe } from './recipe.ts'

const HEADERS = ['x-gateway-session-id', 'x-session-id', 'session_id', 'session-id', 'helicone-session-id']
const MAX_LENGTH = 256
const MAX_SESSIONS = 10_000

interface Pin {
  readonly target: string
  readonly connectionId: string
  /** Monotonic ms. */
  until: number
}

export interface StickySessions {
  /** The candidates with the session's own in front, if it is among them. */
  preferred(ctx: RequestContext, recipe: Recipe, candidates: Candidate[]): Candidate[]
  /** `candidate` answered. */
  answered(ctx: RequestContext, recipe: Recipe, candidate: Candidate): void
}

/** @param monotonic ms. */
export function stickySessions(monotonic: () => number): StickySessions {
  const pins = new Map<string, Pin>()
  const keyOf = (ctx: RequestContext, { id, config }: Recipe): string | null => {
    const session = config.sessionSticky ? sessionOf(ctx) : null
    return session === null ? null : `${ctx.principal.orgId} ${id} ${session}`
  }
  return {
    preferred(ctx, recipe, candidates) {
      const key = keyOf(ctx, recipe)
      const pin = key === null ? undefined : pins.get(key)
      if (pin === undefined || pin.until <= monotonic()) return candidates
      const mine = candidates.find(
        ({ target, connection }) => connection.id === pin.connectionId && nameOf(target) === pin.target,
      )
      return mine === undefined ? candidates : [mine, ...candidates.filter((candidate) => candidate !== mine)]
    },
    answered(ctx, recipe, { target, connection }) {
      const key = keyOf(ctx, recipe)
      if (key === null) return
      pins.delete(key)
      pins.set(key, {
        target: nameOf(target),
        connectionId: connection.id,
        until: monotonic() + recipe.config.stickyTtlSecs * 1000,
      })
      if (pins.size > MAX_SESSIONS) pins.delete(pins.keys().next().value as string)
    },
  }
}

function nameOf({ provider, model }: Candidate['target']): string {
  return `${provider}/${model}`
}

function sessionOf({ sessionId, headers }: RequestContext): string | null {
  if (sessionId !== null) return sessionId
  for (const name of HEADERS) {
    const value = headers.get(name)?.trim()
    if (value && value.length <= MAX_LENGTH) return value
  }
  return null
}

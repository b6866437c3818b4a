// Tracks the accuracy of the cache by route (a provider's model and a key). A sample of the hits is answered by the model and compared. A
// route with too many wrong hits gets a higher threshold; at the highest one it is disabled.
export interface RouteId {
  readonly orgId: number | null
  readonly keyId: number | null
  readonly provider: string
  readonly model: string
}

export interface Route extends RouteId {
  threshold: number
  /** Results of the last comparisons, oldest first: true when the answers agreed. */
  ring: boolean[]
  /** Epoch ms; 0: enabled. */
  disabledUntil: number
  hits: number
  misses: number
}

const RING = 50
const MIN_SAMPLES = 20
const STEP = 0.01
const HIGHEST = 0.99
const DISABLED_MS = 86_400_000
const MAX_ROUTES = 10_000

export interface Routes {
  of(id: RouteId): Route
  usable(route: Route): boolean
  compared(route: Route, agreed: boolean): void
  list(orgId: number | null): readonly Route[]
  /** Forgets the routes of one organization, after a change of its settings; without one: of all. */
  reset(orgId?: number): void
}

/** @param threshold returns the one that a new route of the organization starts with. */
export function routesOf(threshold: (orgId: number | null) => number, floor: number, now: () => number): Routes {
  const routes = new Map<string, Route>()
  return {
    of({ orgId, keyId, provider, model }) {
      const name = JSON.stringify([orgId, keyId, provider, model])
      let route = routes.get(name)
      if (route === undefined) {
        route = { orgId, keyId, provider, model, threshold: threshold(orgId), ring: [], disabledUntil: 0, hits: 0, misses: 0 }
        if (routes.size >= MAX_ROUTES) routes.delete(routes.keys().next().value as string)
        routes.set(name, route)
      }
      return route
    },
    usable: ({ disabledUntil }) => disabledUntil <= now(),
    compared(route, agreed) {
      route.ring.push(agreed)
      if (route.ring.length > RING) route.ring.shift()
      const precision = precisionOf(route)
      if (route.ring.length < MIN_SAMPLES || precision === null || precision >= floor) return
      route.ring = []
      if (route.threshold >= HIGHEST) route.disabledUntil = now() + DISABLED_MS
      // Rounded, without the error of binary fractions.
      else route.threshold = Math.min(HIGHEST, Math.round((route.threshold + STEP) * 1e6) / 1e6)
    },
    list: (orgId) => [...routes.values()].filter((route) => route.orgId === orgId),
    reset(orgId) {
      for (const [name, route] of routes) if (orgId === undefined || route.orgId === orgId) routes.delete(name)
    },
  }
}

/** Returns null when there was no comparison. */
export function precisionOf({ ring }: Route): number | null {
  return ring.length === 0 ? null : ring.filter(Boolean).length / ring.length
}

// The hook `candidates`, after all hooks that remove candidates: removes those that cannot serve the request, orders the rest by the
// strategy, and puts a session's own account first. Only this file advances the rotation.
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import { asksItself } from '../multi-call/asks-itself.ts'
import type { AccountTurns } from '../strategies/account-turns.ts'
import { estimatedCost, listedPrice } from '../strategies/cost.ts'
import { type LatencyTables, latencyTables } from '../strategies/latency-table.ts'
import { ordered } from '../strategies/order.ts'
import { cursors } from '../strategies/rotation.ts'
import { capable, exceeds, type Limits, limitsOf, RequestNeeds } from './capability.ts'
import type { CompiledModel, CompiledTarget } from './compiled-model.ts'
import type { Facts, Knowledge } from './model-facts.ts'
import { type StickyOptions, type StickySessions, stickySessions } from './sticky.ts'

/** A target with its remaining accounts, in order. */
export interface Survivor {
  readonly target: CompiledTarget
  readonly candidates: Candidate[]
}

/** The route of one request's virtual model. */
export interface Route {
  compiled: CompiledModel
  readonly needs: RequestNeeds
  survivors: readonly Survivor[]
}

export interface Planner {
  route(ctx: RequestContext, compiled: CompiledModel): Route
  plan(ctx: RequestContext, route: Route, candidates: Candidate[]): Candidate[]
  /** Learns from the attempts of any request; `route`: null for concrete models. */
  learn(ctx: RequestContext, route: Route | null, status: number): void
  readonly latency: LatencyTables
  readonly cursors: ReturnType<typeof cursors>
  readonly sessions: StickySessions
}

export interface PlannerOptions {
  readonly knowledge: Knowledge
  readonly random: () => number
  readonly monotonic: () => number
  readonly shared: Pick<StickyOptions, 'storage' | 'unshared'>
  /** null: accounts are tried by priority. */
  readonly accounts: (ctx: RequestContext) => AccountTurns | null
}

const KNOWN_FOR_MS = 1000

/** Facts about a virtual model's targets, refreshed once a second instead of per request. */
interface Known {
  readonly orgId: number | null
  /** Monotonic ms. */
  readonly until: number
  readonly facts: ReadonlyMap<Candidate['target'], Facts>
  readonly limits: Limits
}

export function planner({ knowledge, random, monotonic, shared, accounts }: PlannerOptions): Planner {
  const turns = cursors()
  const latency = latencyTables(monotonic)
  const sessions = stickySessions({ ...shared, monotonic, quotaLeft: knowledge.quotaLeft })
  const remembered = new WeakMap<readonly CompiledTarget[], Known>()

  const knownOf = ({ targets }: CompiledModel, orgId: number | null, now: number): Known => {
    let known = remembered.get(targets)
    // Organizations share the names of GATEWAY_ROUTES, and each has its own prices.
    if (known === undefined || known.until <= now || known.orgId !== orgId) {
      const facts = new Map(
        targets.map((target) => [
          target,
          knowledge.facts(target.shared === undefined ? orgId : null, target.provider, target.model),
        ]),
      )
      known = { orgId, until: now + KNOWN_FOR_MS, facts, limits: limitsOf(facts.values()) }
      remembered.set(targets, known)
    }
    return known
  }

  return {
    latency,
    cursors: turns,
    sessions,
    route: (ctx, compiled) => ({ compiled, needs: new RequestNeeds(ctx), survivors: [] }),
    plan(ctx, route, candidates) {
      const { compiled, needs } = route
      const now = monotonic()
      const known = knownOf(compiled, ctx.principal.orgId, now)
      const factsOf = (target: CompiledTarget): Facts => known.facts.get(target) as Facts
      // A chain cannot omit one of its steps.
      const filters = ctx.operation === 'chat' && compiled.ordering !== 'pipeline'
      const able = filters ? withoutIncapable(ctx, route, candidates, known) : candidates
      route.survivors = ordered(compiled.ordering, survivorsOf(able), compiled.config, {
        turn: () => turns.next(compiled),
        random,
        cost: (target) => estimatedCost(factsOf(target), needs.tokens, needs.maxTokens),
        listedPrice: (target) => listedPrice(factsOf(target)),
        quality: ({ provider, model }) => knowledge.quality(ctx.principal.orgId, provider, model),
        latency: ({ id }) => latency(ctx.principal.orgId).of(id, ctx.stream, now)?.ms ?? null,
      })
      const walk: Candidate[] = []
      for (const survivor of route.survivors) for (const candidate of survivor.candidates) walk.push(candidate)
      const serialize = (order: Candidate[], pinned: boolean): Candidate[] => accounts(ctx)?.ordered(ctx, order, pinned) ?? order
      // Each call that it makes chooses candidates itself, with its own turn.
      if (isMultiCall(compiled)) return asksItself(ctx, compiled, route.survivors) ? serialize(walk, false) : walk
      const preferred = sessions.preferred(ctx, compiled, walk)
      const order = serialize(preferred, preferred !== walk)
      const { maxAttempts } = compiled.config
      return maxAttempts > 0 ? order.slice(0, maxAttempts) : order
    },
    learn(ctx, route, status) {
      const measured = latency(ctx.principal.orgId)
      for (const { candidate, error, latencyMs, action, role } of ctx.attempts) {
        if (action === 'skipped' || latencyMs === undefined) continue
        const id = `${candidate.target.provider}/${candidate.target.model}`
        // Members of a panel and drafts are never streamed.
        const stream = ctx.stream && role !== 'panel' && role !== 'step'
        if (error === undefined) measured.answered(id, stream, latencyMs)
        else if (isFault(error)) measured.failed(id, stream)
      }
      if (route !== null && status === 200 && ctx.candidate !== null && !isMultiCall(route.compiled))
        sessions.answered(ctx, route.compiled, ctx.candidate)
    },
  }
}

export function isMultiCall({ ordering }: CompiledModel): boolean {
  return ordering === 'fusion' || ordering === 'pipeline'
}

/** Returns false for a failure that the request itself caused. */
function isFault({ upstream }: NonNullable<RequestContext['attempts'][number]['error']>): boolean {
  if (upstream === null) return false
  return upstream.status === 0 || upstream.status >= 500 || upstream.status === 429 || upstream.status === 408
}

function withoutIncapable(
  ctx: RequestContext,
  { compiled, needs }: Route,
  candidates: Candidate[],
  { facts, limits }: Known,
): Candidate[] {
  if (compiled.targets.length < 2 || !exceeds(needs, limits)) return candidates
  const able = ({ target }: Candidate): boolean => capable(facts.get(target) as Facts, needs)
  // Facts may be wrong: when all candidates would be removed, keep all.
  if (![...candidates, ...ctx.attempts.map(({ candidate }) => candidate)].some(able)) return candidates
  return candidates.filter((candidate) => {
    if (able(candidate)) return true
    ctx.skip(candidate, 'capability')
    return false
  })
}

function survivorsOf(candidates: readonly Candidate[]): Survivor[] {
  const survivors: Survivor[] = []
  const found = new Map<Candidate['target'], Survivor>()
  for (const candidate of candidates) {
    const known = found.get(candidate.target)
    if (known !== undefined) known.candidates.push(candidate)
    else {
      const survivor = { target: candidate.target as CompiledTarget, candidates: [candidate] }
      found.set(candidate.target, survivor)
      survivors.push(survivor)
    }
  }
  return survivors
}

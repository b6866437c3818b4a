// Virtual models: named routing rules from rows of gateway.config.ts and the API, names of GATEWAY_ROUTES, `auto` and bare model ids.
// They choose the targets and their order.
import { z } from 'zod'
import { systemRandom } from '../../core/ids/system-random.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { virtualModelRoutes } from './api.ts'
import { targetFacts } from './attention.ts'
import { checkTargets } from './check-targets.ts'
import { migrations } from './migrations.ts'
import { asksItself } from './multi-call/asks-itself.ts'
import { fusion } from './multi-call/fusion.ts'
import { pipeline } from './multi-call/pipeline.ts'
import { autoModel } from './names/auto.ts'
import { directoryOf, virtualModel } from './names/directory.ts'
import { namedRoutes } from './names/named-routes.ts'
import { type Find, listEntries, planOf, planOfBareId, refuseConcrete, refuseMisplaced } from './names/names.ts'
import { systemModels } from './names/system-models.ts'
import { AUTO } from './planning/compiled-model.ts'
import { knowledgeOf } from './planning/model-facts.ts'
import { overflow, paramsOf, setParams } from './planning/overflow.ts'
import { isMultiCall, planner, type Route } from './planning/planner.ts'
import { portableVirtualModels } from './portable.ts'
import { previewRoutes } from './preview/preview-routes.ts'
import { routePreview } from './preview/route-preview.ts'
import { simulateRoute } from './preview/simulate-route.ts'
import { virtualModelResource } from './resource.ts'
import { namedRoutesApi } from './routes-api.ts'
import { activeVirtualModels } from './store.ts'
import { accountTurns } from './strategies/account-turns.ts'
import { targetEdits } from './target-edits.ts'

/** Provides the services `virtualModels` and `systemModels`, resolves virtual names and bare model ids, and orders candidates. */
export const virtualModels = definePlugin({
  name: 'virtual-models',
  requires: ['connections'],
  config: z.strictObject({
    /** Strict mode: concrete models are refused, and lists do not contain them. */
    only: z.boolean().default(false),
    /** Named candidate lists, as in GATEWAY_ROUTES. */
    routes: z.unknown().default(null).meta({ env: 'ROUTES' }),
    /** In [0, 1), for `weighted`. */
    random: z.custom<() => number>((value) => typeof value === 'function', 'must be a function').default(() => systemRandom),
  }),
  settings: {
    /** The order of a target's accounts: lowest priority first, or each in turn. */
    'routing.account_rotation': z.enum(['priority', 'round_robin']).default('priority').meta({ scope: 'organization' }),
    /** Among targets of equal cost, and equals of `auto`: the one with the better score of shadow evaluation. */
    'routing.quality_tiebreak': z.boolean().default(false).meta({ scope: 'organization' }),
  },
  variables: {
    VIRTUAL_MODELS_ONLY: { option: 'only', about: 'Strict mode: refuse models that are not virtual.' },
  },
  migrations,
  async setup(gateway, { only, routes: givenRoutes, random }) {
    const { providerId } = gateway.use('configuration')
    const { clock } = gateway
    const monotonic = () => clock.monotonic()
    const usesQuality = gateway.settings.compiled((get) => get('routing.quality_tiebreak'))
    const knowledge = knowledgeOf(gateway, usesQuality)
    const view = await gateway.view('living', async (db) => (await activeVirtualModels(db)).map(virtualModel))
    let directory = directoryOf(view.current, providerId)
    view.watch((models) => {
      directory = directoryOf(models, providerId)
    })
    const models = {
      list: (orgId: number | null) => directory.list(orgId),
      get: (orgId: number | null, id: number) => directory.get(orgId, id),
      named: (orgId: number | null, name: string) => directory.named(orgId, name),
    }
    gateway.provide('virtualModels', models)

    const routes = namedRoutes(givenRoutes, { providerId, log: gateway.log, now: clock.now() })
    const shares = gateway.use('status').checks.some(({ name }) => name === 'shared_store')
    const unshared = (error: unknown) => gateway.log.warn('sessions.unshared', { error: String(error) })
    const shared = { storage: shares ? gateway.storage : null, unshared }
    const turns = accountTurns()
    const rotates = gateway.settings.compiled((get) => get('routing.account_rotation') === 'round_robin')
    const takesTurns = (ctx: RequestContext): boolean => rotates(ctx.principal.orgId)
    const accounts = (ctx: RequestContext) => (takesTurns(ctx) ? turns : null)
    const plans = planner({ knowledge, random, monotonic, shared, accounts })
    const auto = autoModel({ knowledge, latency: plans.latency, monotonic, now: clock.now() })
    const system = systemModels(clock.now())
    gateway.provide('systemModels', { offer: system.offer })
    const find: Find = (orgId, name) =>
      directory.compiled(orgId, name) ??
      routes.get(name) ??
      system.find(orgId, name) ??
      (name === AUTO ? auto.compiled(orgId) : null)
    const slot = gateway.slot<Route>()

    // Runs after the allow-list and before the rate limits.
    if (only) gateway.hook('access', (ctx) => refuseConcrete(ctx, find), { after: 'keys' })
    gateway.hook('resolve', (ctx) => {
      const found = find(ctx.principal.orgId, ctx.requestedModel)
      if (found === null) return undefined
      refuseMisplaced(ctx, found)
      const route = plans.route(ctx, found)
      if (found.id === AUTO) route.compiled = auto.narrowed(found, route.needs)
      const plan = planOf(route.compiled)
      slot.set(ctx, route)
      return plan
    })
    gateway.hook(
      'resolve',
      ({ requestedModel, principal }) => {
        if (requestedModel.includes('/')) return undefined
        return planOfBareId(requestedModel, knowledge.offered(principal.orgId).providersOf(requestedModel))
      },
      { order: 'post', after: 'connections' },
    )
    // Internal calls may name a virtual model, too.
    const when = (ctx: RequestContext): boolean => slot.get(ctx) !== undefined
    gateway.hook(
      'candidates',
      (ctx, candidates) => {
        const route = slot.get(ctx) as Route
        const fetching = isMultiCall(route.compiled) ? undefined : plans.sessions.fetched(ctx, route.compiled)
        if (fetching === undefined) return plans.plan(ctx, route, candidates)
        return fetching.then(() => plans.plan(ctx, route, candidates))
      },
      { order: 'post', when },
    )
    gateway.hook('candidates', (ctx, candidates) => turns.ordered(ctx, candidates, false), {
      order: 'post',
      when: (ctx) => takesTurns(ctx) && !when(ctx),
    })
    gateway.hook(
      'call',
      (ctx, next) => {
        const route = slot.get(ctx) as Route
        if (asksItself(ctx, route.compiled, route.survivors)) return next()
        return route.compiled.ordering === 'fusion'
          ? fusion(gateway, providerId, ctx, route)
          : pipeline(gateway, ctx, route.compiled)
      },
      { operation: 'chat', when },
    )
    gateway.hook('attempt', overflow(knowledge, gateway.slot<number>()), { order: 'pre', before: 'resilience', when })
    gateway.hook('encoded', (_ctx, call) => setParams(call), { when: ({ candidate }) => paramsOf(candidate) !== null })
    gateway.hook('settled', (ctx, outcome) => plans.learn(ctx, slot.get(ctx) ?? null, outcome.status))

    const checked = checkTargets(gateway)
    virtualModelRoutes({ gateway, view, models, knowledge, checked })
    gateway.provide(
      'virtualTargetEdits',
      targetEdits(view, checked, () => clock.now()),
    )
    const saved = { ...models, compiled: (orgId: number | null, name: string) => directory.compiled(orgId, name) }
    previewRoutes({ gateway, models: saved, checked, clock, knowledge, planner: plans, providerId })
    simulateRoute(gateway, checked)
    namedRoutesApi(gateway, { routes, auto, isRow: (orgId, name) => directory.named(orgId, name) !== null })
    gateway.provide('routePreview', routePreview({ clock, knowledge, planner: plans, providerId }, find))
    gateway.resource(virtualModelResource(gateway, view))
    gateway.portable(portableVirtualModels(gateway, view, models))

    const catalogue = gateway.optional('modelCatalogue')
    let unlist = (): void => {}
    gateway.hook('ready', () => {
      const list = (orgId: number | null) =>
        listEntries([...directory.compiledModels(orgId), ...routes.values(), ...system.list(orgId), auto.shown(orgId)])
      unlist = catalogue()?.virtual({ list, only }) ?? unlist
    })
    const facts = targetFacts(models, (orgId, name) => directory.compiled(orgId, name), knowledge)
    const silence = gateway.use('attention').contribute('virtual-models', facts)
    return () => {
      silence()
      unlist()
    }
  },
})

export default virtualModels

// createGateway: assembles one gateway from a configuration and its ports. All state belongs to the returned object.
import { invoke } from './calls/invoke.ts'
import { SwapRemoveList } from './collections/swap-remove-list.ts'
import { applyFile } from './config/apply-file.ts'
import { type Configuration, configurationOf } from './config/configuration.ts'
import { fileOptions, type GatewayConfig, parseConfig, sectionsOf } from './config/define.ts'
import { type Env, readEnv, tellOfRestart } from './config/env.ts'
import { configPlanOf, type PlanStep, reconcile, refuseUnknown } from './config/reconcile.ts'
import { isMultiTenant } from './db/wall.ts'
import { refuseNew, shuttingDown } from './errors/shutting-down.ts'
import { lastingServices, longLived } from './facilities.ts'
import { pace } from './heartbeat.ts'
import { type ControlApp, controlApp, controlServices } from './http/app.ts'
import { crossOrigins } from './http/cross-origin.ts'
import { owns, routeTable } from './http/data-routes.ts'
import { withOpenApi } from './http/openapi.ts'
import { webFetch } from './http/web-fetch.ts'
import { Overload } from './load/overload.ts'
import { Receiving } from './load/receiving.ts'
import type { Metrics } from './metrics/registry.ts'
import { naming } from './models/answer-model.ts'
import type { RequestState } from './pipeline/context.ts'
import { runExchange } from './pipeline/pipeline.ts'
import { liveRequest, type Runtime, runtimeOptions, untilIdle } from './pipeline/runtime.ts'
import { buildGeneration, discard, type Generation, readyAfterReload, retire } from './plugins/generation.ts'
import { offerRegistry } from './plugins/offer-registry.ts'
import { PluginList } from './plugins/plugin-list.ts'
import { portableRows } from './plugins/portable-rows.ts'
import { ReloadQueue } from './plugins/reload-queue.ts'
import { settingsFromEnv, variablesOf } from './plugins/variables.ts'
import { gatewayStatus } from './status.ts'
import { systemClock } from './timing/clock.ts'
import { Ticker } from './timing/ticker.ts'
import { YieldQueue } from './timing/yield-queue.ts'
import type { Gateway, Ports } from './types/gateway.ts'
import type { PluginInfo } from './types/plugin/info.ts'
import type { OpenStorage } from './types/plugin/offers.ts'
import type { ApiRoute, Plugin } from './types/plugin/plugin.ts'
import type { Database } from './types/ports/db.ts'
import type { LiveRequest } from './types/request/context.ts'
import { VERSION } from './version.ts'

export interface CreateOptions {
  /** Values by variable name. They take precedence over the environment. */
  flags?: Readonly<Record<string, string | undefined>>
  /** Deep-freezes the values that hooks may only read, and checks control-plane answers against their schemas; for tests. */
  strict?: boolean
  /** False skips reconciliation of the declared rows: the command line plans first. Default true. */
  reconcile?: boolean
  /** Plugins that the host includes. Their variables stay known when the configuration leaves a plugin out. */
  bundled?: readonly Plugin[]
}

/** The gateway with the members that hosts need; `hooks` are the sealed ones of the current generation. */
export interface HostedGateway extends Gateway {
  readonly env: Env
  readonly hooks: Generation['hooks']['sealed']
  readonly routes: Runtime['routes']
  readonly api: readonly ApiRoute[]
  plugins(): readonly PluginInfo[]
  /** Resolves when every settlement so far is stored, or in the spool. */
  committed(): Promise<void>
  readonly db: Database | undefined
  readonly metrics: Metrics
  readonly overload: Overload
  live(): Iterable<LiveRequest>
  /** The host calls it with the address of its server, `http://127.0.0.1:8788`. */
  listening(url: string): void
  /** Remembers that the newest configuration could not be loaded, until a reload succeeds. Operators see it. */
  refuseReload(error: unknown): void
  /** Lists the steps that reconciling the configuration file would take now. */
  plan(): Promise<readonly PlanStep[]>
  /** Takes those steps. @param actor of their audit entries. @throws Error for a name that is taken. */
  apply(actor?: string): Promise<readonly PlanStep[]>
}

/** After a reload, running requests keep their generation for at most this time. */
const RETIRE_AFTER_MS = 10 * 60_000

/** A closing gateway waits this long for the requests that it stopped. */
const SETTLE_MS = 5000

/** @throws Error naming the invalid entry, variable or plugin. */
export async function createGateway(config: object, ports: Ports, create: CreateOptions = {}): Promise<HostedGateway> {
  let parsed = parseConfig(config)
  let env = environment(parsed)
  const shared = await longLived(ports, isMultiTenant(env))
  const { clock, log, metrics, db, views } = shared
  const plugins = new PluginList(metrics, clock, () => runtime.generation, create.bundled)
  const offers = offerRegistry(ports, shared)
  const started = env
  let options = runtimeOptions(env, create.strict ?? false)
  const runtime: Runtime = {
    get options() {
      return options
    },
    clock,
    log,
    metrics,
    transport: ports.transport,
    fetchMedia: ports.fetchMedia,
    readForm: ports.readForm,
    dialects: offers.dialects,
    operations: new Map(ports.operations?.map((driver) => [driver.id, driver])),
    provider: (id) => offers.providers.find(id),
    commits: shared.commits ?? null,
    ticker: new Ticker(clock, options.heartbeatMs),
    answersAsRequested: (dialect) => names.requestedIn(dialect),
    heartbeatForm: (dialect) => heartbeat.formOf(dialect),
    receiving: new Receiving(clock, metrics, () => options.receiving),
    overload: new Overload(metrics),
    crossOrigin: crossOrigins(),
    active: new SwapRemoveList<RequestState>(),
    turns: new YieldQueue(),
    generation: null as unknown as Generation,
    routes: null as unknown as Runtime['routes'],
    slotCount: 0,
    draining: false,
    warnedOfOpenHost: false,
  }
  const idle = (which: (ctx: RequestState) => boolean, ms: number) => untilIdle(runtime, which, ms)
  const heartbeat = pace(takeOptions)
  const names = naming()
  const status = gatewayStatus(ports, runtime, live, () => succession.refused)
  const portable = portableRows(() => runtime.generation, db, views)
  const configPlan = configPlanOf(() => [runtime.generation.resources, sectionsOf(parsed)], db)
  const lasting = lastingServices(ports, shared, runtime)
  const services = { ...lasting, configPlan, status, plugins, portable, heartbeat, answerModel: names }

  const succession = new ReloadQueue({
    clock,
    log,
    current: () => runtime.generation,
    ended: (state) => shared.events.emit('config.reload', { state, generation: runtime.generation.number }),
    idle: ({ number }) => idle((ctx) => ctx.generation.number === number, RETIRE_AFTER_MS),
  })
  let configuration: Configuration | null = null
  let opened: OpenStorage | null = null
  let api: readonly ApiRoute[] = []
  let control: ControlApp
  try {
    await install(parsed, env, null)
    await shared.commits?.recover()
    await runtime.generation.hooks.ready?.()
  } catch (error) {
    if (runtime.generation !== null) await retire(runtime.generation, [], clock, log) // The failed boot may have run `ready` hooks.
    await (opened as OpenStorage | null)?.close?.()
    await shared.close()
    throw error
  }

  /** Replaces the generation. On failure nothing has changed. */
  async function install(next: GatewayConfig, nextEnv: Env, previous: Generation | null): Promise<void> {
    const offered = await offers.prepare(next, nextEnv)
    const nextConfiguration = configurationOf(next, offered.providers, offers.sources, configuration)
    if (previous === null) opened = await offers.openStorage(nextEnv)
    const generation = await buildGeneration(
      {
        plugins: next.plugins ?? [],
        env: nextEnv,
        settings: shared.settings,
        fileSettings: { file: next.settings ?? {}, env: settingsFromEnv(next.plugins ?? [], nextEnv) },
        services: new Map(Object.entries({ ...services, configuration: nextConfiguration })),
        db,
        guard: { clock, log, failed: plugins.failed, strict: create.strict ?? false },
        facilities: {
          ...shared,
          storage: opened?.store ?? shared.storage,
          profile: nextEnv.get<'local' | 'cloud'>('PROFILE'),
          nextSlot: () => runtime.slotCount++,
          invoke: (...call) => shared.detached(() => invoke(runtime, ...call))(),
          live,
        },
      },
      previous,
    )
    const nextOptions = runtimeOptions(nextEnv, create.strict ?? false)
    let routes: Runtime['routes']
    let nextApi: typeof api
    let app: ControlApp
    try {
      routes = routeTable(offered.dialects, runtime.operations.values(), generation.instances, nextOptions.maxBodyBytes)
      nextApi = withOpenApi(generation.api, { ...nextOptions, version: VERSION, data: routes.entries })
      app = controlApp({
        profile: nextOptions.profile,
        log,
        clock,
        routes: nextApi,
        suggested: routes.suggested,
        ...controlServices(generation),
        strict: create.strict ?? false,
        wall: shared.wall,
      })
      refuseUnknown(generation, sectionsOf(next), nextConfiguration.exclusive)
      succession.refuseClosed()
      if (create.reconcile !== false && db && views) await reconcile(generation.resources, sectionsOf(next), db, views)
    } catch (error) {
      await discard(generation, shared.settings, clock)
      throw error
    }
    generation.takeOver()
    plugins.installed(generation)
    for (const warning of nextEnv.warnings) log.warn('config.ignored', { warning })
    offered.serve()
    configuration = nextConfiguration
    api = nextApi
    control = app
    env = nextEnv
    parsed = next
    runtime.generation = generation
    runtime.routes = routes
    takeOptions()
  }

  function takeOptions(): void {
    const configured = runtimeOptions(env, create.strict ?? false)
    options = { ...configured, heartbeatMs: heartbeat.over(configured.heartbeatMs) }
    runtime.ticker.retune(options.heartbeatMs)
  }

  function environment(from: GatewayConfig): Env {
    const variables = variablesOf(from.plugins ?? [], create.bundled)
    return readEnv({ environment: ports.env ?? {}, options: fileOptions(from), flags: create.flags ?? {}, variables })
  }

  function* live(): Generator<LiveRequest> {
    for (const ctx of runtime.active.values()) yield liveRequest(ctx)
  }

  const stopAll = (): void => {
    for (const ctx of runtime.active.values()) ctx.stop(shuttingDown())
  }

  /** An embedder may still call a closed gateway. Refuse the call, because its usage cannot be booked any more. */
  const refuseAll = (): void => {
    runtime.draining = true
    runtime.routes = { ...runtime.routes, match: refuseNew }
    stopAll()
  }

  return {
    fetch: webFetch({ control: () => control, run: (ingress, sink) => runExchange(runtime, ingress, sink) }),
    handle: (ingress, sink) => runExchange(runtime, ingress, sink),
    owns,
    control: { fetch: (...call) => control.fetch(...call) },
    get env() {
      return env
    },
    get hooks() {
      return runtime.generation.hooks.sealed
    },
    get routes() {
      return runtime.routes
    },
    plugins: () => plugins.list(),
    committed: async () => shared.commits?.flush(),
    get api() {
      return api
    },
    db,
    metrics,
    overload: runtime.overload,
    live,
    listening: status.listening,
    refuseReload: succession.refuse,
    plan: configPlan.checked,
    apply: (actor) => applyFile(runtime.generation, sectionsOf(parsed), shared, actor),
    reload: (nextConfig) =>
      succession.change(async () => {
        const previous = runtime.generation
        const next = parseConfig(nextConfig)
        await install(next, environment(next), previous)
        log.info('config.reloaded', { generation: runtime.generation.number })
        tellOfRestart(log, env, started)
        succession.leave(previous)
        await readyAfterReload(runtime.generation, clock, log)
      }),
    async drain(ms) {
      runtime.draining = true
      if (await idle(() => true, ms)) return
      stopAll()
      await idle(() => true, SETTLE_MS)
    },
    close() {
      refuseAll()
      const before = async (): Promise<void> => {
        refuseAll() // A running reload may have set its own routes.
        // In real time: a simulated clock may stand still.
        await untilIdle({ active: runtime.active, clock: systemClock }, () => true, SETTLE_MS)
        await shared.commits?.flush()
        await runtime.generation.hooks.close?.()
      }
      return succession.close(before, async () => {
        await ports.transport.close()
        await opened?.close?.()
        await shared.close()
      })
    },
  }
}

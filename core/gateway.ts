// createGateway: assembles one gateway from a configuration and its ports. All state hangs on the object; nothing is
// global, nothing happens at import.
import { createStorage, type Storage } from 'unstorage'
import { configuredConnections } from './config/connections.ts'
import { type GatewayConfig, parseConfig } from './config/define.ts'
import { type Env, readEnv } from './config/env.ts'
import { memoryCounters } from './counters/memory.ts'
import { GatewayError } from './errors/gateway-error.ts'
import { EventBus } from './events/bus.ts'
import { type ControlApp, controlApp } from './http/app.ts'
import { owns, routeTable } from './http/data-routes.ts'
import { UNKNOWN_PEER, webIngress, webSink } from './http/web-exchange.ts'
import { memoryDriver } from './kv/memory-driver.ts'
import { Bag } from './lib/bag.ts'
import { systemClock } from './lib/clock.ts'
import { jsonLog } from './lib/log.ts'
import { createMetrics } from './metrics/registry.ts'
import type { RequestState } from './pipeline/context.ts'
import { invoke } from './pipeline/invoke.ts'
import type { Kernel, KernelOptions } from './pipeline/kernel.ts'
import { runExchange } from './pipeline/pipeline.ts'
import { Ticker } from './pipeline/ticker.ts'
import { sameOptions } from './plugins/define.ts'
import { buildGeneration, type Generation, retire } from './plugins/generation.ts'
import { providerTable } from './providers.ts'
import type { Configuration, GatewayStatus } from './services.ts'
import type { LiveRequest } from './types/context.ts'
import type { Gateway, Ports } from './types/gateway.ts'
import type { Logger, Peer } from './types/ports.ts'
import { VERSION } from './version.ts'

export interface CreateOptions {
  /** Values above the environment, by variable name. */
  flags?: Readonly<Record<string, string | undefined>>
  /** Deep-freezes what hooks may only read; for tests. */
  freeze?: boolean
}

/** The gateway and what its hosts need besides. */
export interface HostedGateway extends Gateway {
  readonly env: Env
  /** The sealed hooks of the current generation. */
  readonly hooks: Generation['hooks']['sealed']
  readonly routes: Kernel['routes']
  live(): Iterable<LiveRequest>
}

/** Requests in flight keep their generation this long after a reload, ms. */
const RETIRE_AFTER_MS = 10 * 60_000

/** @throws Error naming the line of the configuration, the variable or the plugin that is wrong. */
export async function createGateway(config: object, ports: Ports, create: CreateOptions = {}): Promise<HostedGateway> {
  const clock = ports.clock ?? systemClock
  const log = ports.log ?? jsonLog(clock)
  const metrics = createMetrics()
  const failures = metrics.counter('plugin_errors_total', 'Failures of plugin hooks.', ['plugin', 'hook'])
  const events = new EventBus(log, () => clock.now())
  const storage: Storage = ports.storage ?? createStorage({ driver: memoryDriver({ clock }) })
  const counters = ports.counters ?? memoryCounters(clock)
  const startedAt = clock.now()
  const dialects = new Map(ports.dialects.map((dialect) => [dialect.id, dialect]))

  let parsed = parseConfig(config)
  let env = environment(parsed)
  let options = kernelOptions(env, create)
  const kernel: Kernel = {
    get options() {
      return options
    },
    clock,
    log,
    metrics,
    transport: ports.transport,
    fetchMedia: ports.fetchMedia,
    dialects,
    provider: (id) => providers.find(id),
    ticker: new Ticker(clock, options.heartbeatMs),
    active: new Bag<RequestState>(),
    generation: null as unknown as Generation,
    routes: null as unknown as Kernel['routes'],
    slotCount: 0,
    draining: false,
  }
  let providers = providerTable([...ports.providers, ...(parsed.providers ?? [])])
  const status: GatewayStatus = {
    version: VERSION,
    get profile() {
      return options.profile
    },
    get state() {
      return kernel.draining ? 'draining' : 'serving'
    },
    startedAt,
    live,
  }

  let configuration: Configuration | null = null
  let control: ControlApp
  await install(parsed, env, null)
  await kernel.generation.hooks.ready?.()

  /** Builds the next generation and swaps it in; on failure nothing has changed. */
  async function install(next: GatewayConfig, nextEnv: Env, previous: Generation | null): Promise<void> {
    const nextProviders = providerTable([...ports.providers, ...(next.providers ?? [])])
    const connections = configuredConnections(next, nextProviders, {
      env: ports.env ?? {},
      readFile: ports.readFile ?? (() => null),
    })
    const nextConfiguration =
      configuration !== null &&
      sameOptions(configuration.connections, connections) &&
      sameOptions(parsed.providers, next.providers)
        ? configuration
        : { connections, providerId: (id: string) => (nextProviders.known(id) ? nextProviders.find(id).id : id) }
    const services = new Map<string, unknown>([
      ['status', status],
      ['exposition', metrics],
      ['configuration', nextConfiguration],
    ])
    const generation = await buildGeneration(
      {
        plugins: next.plugins ?? [],
        env: nextEnv,
        settings: { file: next.settings ?? {}, env: (variable) => (nextEnv.isSet(variable) ? nextEnv.get(variable) : undefined) },
        services,
        db: ports.db,
        guard: { clock, log, failed: (plugin, hook) => failures.inc({ plugin, hook }) },
        facilities: {
          profile: nextEnv.get<'local' | 'cloud'>('PROFILE'),
          clock,
          log,
          storage,
          counters,
          metrics,
          events,
          db: ports.db,
          nextSlot: () => kernel.slotCount++,
          invoke: (request, invokeOptions) => invoke(kernel, request, invokeOptions),
          live,
        },
      },
      previous,
    )
    const nextOptions = kernelOptions(nextEnv, create)
    const routes = routeTable(dialects.values(), generation.data, nextOptions.maxBodyBytes)
    const app = controlApp({ profile: nextOptions.profile, log, routes: generation.api })
    for (const warning of nextEnv.warnings) log.warn('config.ignored', { warning })
    providers = nextProviders
    configuration = nextConfiguration
    control = app
    options = nextOptions
    env = nextEnv
    parsed = next
    kernel.generation = generation
    kernel.routes = routes
    kernel.ticker.retune(nextOptions.heartbeatMs)
  }

  function environment(from: GatewayConfig): Env {
    const inFile = { ...from.options, ...(from.profile ? { profile: from.profile } : {}) }
    return readEnv({ environment: ports.env ?? {}, options: inFile, flags: create.flags ?? {} })
  }

  function* live(): Generator<LiveRequest> {
    for (const ctx of kernel.active.values()) {
      yield { ctx, contentBytes: ctx.facts?.contentBytes ?? 0, usage: ctx.facts?.usage ?? null, lastReadAt: ctx.lastReadAt }
    }
  }

  /** Polls rather than counts: a swap is rare, a counter per request is not free. */
  async function idle(which: (ctx: RequestState) => boolean, ms: number): Promise<boolean> {
    const until = clock.monotonic() + ms
    while (kernel.active.values().some(which)) {
      const left = until - clock.monotonic()
      if (left <= 0) return false
      await clock.sleep(Math.min(50, left))
    }
    return true
  }

  const fetch = async (request: Request, peer: Partial<Peer> = {}): Promise<Response> => {
    const from = judged(peer)
    if (!owns(new URL(request.url).pathname)) return control.fetch(request, from)
    const { sink, response } = webSink(request.signal)
    void runExchange(kernel, webIngress(request, from), sink).then(() => sink.end())
    return response
  }

  return {
    fetch,
    handle: (ingress, sink) => runExchange(kernel, ingress, sink),
    owns,
    control: { fetch: (request, peer) => control.fetch(request, peer) },
    get env() {
      return env
    },
    get hooks() {
      return kernel.generation.hooks.sealed
    },
    get routes() {
      return kernel.routes
    },
    live,
    async reload(nextConfig) {
      const previous = kernel.generation
      const next = parseConfig(nextConfig)
      await install(next, environment(next), previous)
      log.info('config.reloaded', { generation: kernel.generation.number })
      await readyAfterReload(kernel.generation, log)
      void idle((ctx) => ctx.generation === previous, RETIRE_AFTER_MS).then(() => retire(previous, kernel.generation, log))
    },
    async drain(ms) {
      kernel.draining = true
      if (await idle(() => true, ms)) return
      for (const ctx of kernel.active.values())
        ctx.stop(GatewayError.unavailable('The gateway is shutting down.', { code: 'shutting_down', retryAfterMs: 1000 }))
      await idle(() => true, 5000)
    },
    async close() {
      kernel.draining = true
      for (const ctx of kernel.active.values())
        ctx.stop(GatewayError.unavailable('The gateway is shutting down.', { code: 'shutting_down', retryAfterMs: 1000 }))
      await kernel.generation.hooks.close?.()
      await retire(kernel.generation, null, log)
      await ports.transport.close()
    },
  }
}

/** Other runtimes hand their own second argument to a fetch handler: only what is a peer's is taken from it. */
function judged(given: Partial<Peer>): Peer {
  const { address, local, secure } = given
  return {
    address: typeof address === 'string' ? address : UNKNOWN_PEER.address,
    local: typeof local === 'boolean' ? local : UNKNOWN_PEER.local,
    secure: secure === true,
  }
}

/** The swap is done: a plugin that fails here is reported, and the gateway serves. */
async function readyAfterReload(generation: Generation, log: Logger): Promise<void> {
  for (const { plugin, hooks } of generation.fresh) {
    for (const { hook, fn } of hooks) {
      if (hook !== 'ready') continue
      try {
        await fn()
      } catch (error) {
        log.error('plugin.error', {
          plugin: plugin.name,
          hook,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        })
      }
    }
  }
}

function kernelOptions(env: Env, create: CreateOptions): KernelOptions {
  return {
    profile: env.get<'local' | 'cloud'>('PROFILE'),
    requireApiKey: env.get<boolean>('REQUIRE_API_KEY'),
    maxBodyBytes: env.get<number>('MAX_BODY_BYTES'),
    heartbeatMs: env.get<number>('STREAM_HEARTBEAT_MS'),
    idleTimeoutMs: env.get<number>('UPSTREAM_IDLE_TIMEOUT_MS'),
    connectTimeoutMs: env.get<number>('UPSTREAM_CONNECT_TIMEOUT_MS'),
    deadlineMs: env.get<number | null>('REQUEST_DEADLINE_MS') ?? 0,
    outboundProxy: env.get<string | null>('OUTBOUND_PROXY'),
    freeze: create.freeze ?? false,
  }
}

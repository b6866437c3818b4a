// Runs requests through a whole gateway on a clock of its own: same plugins, same routing, upstreams replaced by a function.
import type { GatewayConfig } from '../../core/config/define.ts'
import type { HostedGateway } from '../../core/gateway.ts'
import { silentLog } from '../../core/log.ts'
import type { Logger } from '../../core/types/ports/ports.ts'
import type { Attempt } from '../../core/types/request/context.ts'
import { createGateway, withPreset } from '../node/gateway.ts'
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts'
import { type AccountTimes, type AccountWatch, accountWatch } from './account-times.ts'
import { type Observer, observer, type SimulatedAccount } from './observer.ts'
import { sandboxOf } from './sandbox.ts'
import { type ScriptedRequest, type UpstreamAnswer, WORKS } from './script.ts'
import { type SimulatedCall, type SimulatedTransport, simulatedTransport } from './transport.ts'

export interface SimulationOptions {
  readonly config: GatewayConfig
  /** Sorted by time. */
  readonly requests: readonly ScriptedRequest[]
  /** Returns the account's answer to a call that begins `at` ms after the start. */
  answer(account: SimulatedAccount, at: number): UpstreamAnswer
  /** @throws Error when these accounts differ from the caller's expectation; then nothing runs. */
  check?(accounts: readonly SimulatedAccount[]): void
  /** GATEWAY_* variables that affect routing. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly log?: Logger
}

export interface SimulatedRequest {
  /** Ms since the start. */
  readonly at: number
  readonly model: string
  /** The status in usage: 502 for a stream that broke after its start. */
  readonly status: number
  readonly attempts: readonly Attempt[]
  /** The caller's error message; null on success. */
  readonly error: string | null
  /** Simulated ms. */
  readonly latencyMs: number
  /** null: no price is known. */
  readonly costNano: number | null
}

export interface Simulation {
  /** In the order of the script. */
  readonly requests: readonly SimulatedRequest[]
  /** Sorted by start; times since the start. */
  readonly calls: readonly SimulatedCall[]
  /** By `provider/label`. */
  readonly accounts: ReadonlyMap<string, Readonly<AccountTimes>>
  /** Simulated ms until the last answer. */
  readonly durationMs: number
}

/** @throws Error naming the fault in the configuration. */
export async function simulate({ config, requests, answer, check, env = {}, log }: SimulationOptions): Promise<Simulation> {
  const clock = fakeClock()
  const seen = observer()
  const transport = simulatedTransport(clock, (key, at) => {
    const account = seen.accounts.get(key)
    // A call outside the pipeline without a connection: a proxy test.
    return account === undefined ? WORKS : answer(account, at)
  })
  const sandbox = sandboxOf(config, env)
  const { plugins = [], ...rest } = withPreset(sandbox.config)
  const ports = {
    clock,
    transport,
    log: log ?? silentLog,
    env: sandbox.env,
    readFile: sandbox.readFile,
    fetchMedia: async () => ({ mime: 'image/png', data: '' }),
    outboundPost: async () => ({ status: 204 }),
  }
  const gateway = await createGateway({ ...rest, plugins: [...plugins, seen.plugin] }, ports, { flags: sandbox.flags })
  try {
    check?.([...seen.accounts.values()])
    const watch = accountWatch(seen.connections(), seen.states())
    const answers = await new Run(gateway, clock, transport, watch).through(requests)
    return {
      requests: requests.map((request, index) => recordOf(request, answers[index], seen)),
      calls: transport.calls,
      accounts: watch.times,
      durationMs: clock.monotonic(),
    }
  } finally {
    await gateway.close()
  }
}

interface Answered {
  readonly id: string
  readonly status: number
}

/** The longest step while requests run, ms: the state is read at each step. */
const STEP_MS = 1000
/** Number of turns of the event loop in which requests can reach their next upstream call. */
const TURNS = 100
/** Time after the start of the last request, ms. Streams end within 30 minutes, so any request that still runs is stuck. */
const MAX_TAIL_MS = 2 * 3_600_000

const CALLER = { address: '127.0.0.1', local: true, secure: true }

class Run {
  readonly #gateway: HostedGateway
  readonly #clock: FakeClock
  readonly #transport: SimulatedTransport
  readonly #watch: AccountWatch
  readonly #answers: Answered[] = []
  #running = 0
  #failure: { reason: unknown } | null = null

  constructor(gateway: HostedGateway, clock: FakeClock, transport: SimulatedTransport, watch: AccountWatch) {
    this.#gateway = gateway
    this.#clock = clock
    this.#transport = transport
    this.#watch = watch
  }

  async through(requests: readonly ScriptedRequest[]): Promise<readonly (Answered | undefined)[]> {
    await this.#quiet()
    for (const [index, request] of requests.entries()) {
      while (this.#clock.monotonic() < request.at) await this.#step(request.at)
      this.#running++
      this.#call(request)
        .then((answered) => {
          this.#answers[index] = answered
        })
        .catch((reason: unknown) => {
          this.#failure ??= { reason }
        })
        .finally(() => this.#running--)
      await this.#quiet()
    }
    const limit = this.#clock.monotonic() + MAX_TAIL_MS
    while (this.#running > 0 && this.#clock.monotonic() < limit) await this.#step(limit)
    return this.#answers
  }

  /** Advances to the next answer, or by a second while requests run. */
  async #step(end: number): Promise<void> {
    const now = this.#clock.monotonic()
    const to = this.#running > 0 ? Math.min(end, now + STEP_MS, this.#transport.nextAnswerAt ?? end) : end
    await this.#clock.advance(to - now)
    await this.#quiet()
  }

  /** Waits until every request waits for an upstream. A request that waits for the clock uses all turns. */
  async #quiet(): Promise<void> {
    for (let turn = 0; turn < TURNS && this.#running > this.#transport.waiting; turn++)
      await new Promise((resolve) => setImmediate(resolve))
    if (this.#failure !== null) throw this.#failure.reason
    this.#watch.look(this.#clock.now())
  }

  async #call({ path, headers, body }: ScriptedRequest): Promise<Answered> {
    const request = new Request(`http://simulation.local${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const response = await this.#gateway.fetch(request, CALLER)
    // The outcome has the stream's failure.
    await response.arrayBuffer().catch(() => null)
    return { id: response.headers.get('x-gateway-request-id') ?? '', status: response.status }
  }
}

function recordOf({ at, body }: ScriptedRequest, answered: Answered | undefined, seen: Observer): SimulatedRequest {
  const end = seen.settled.get(answered?.id ?? '')
  return {
    at,
    model: body.model,
    status: end?.outcome.status ?? answered?.status ?? 504,
    attempts: end?.ctx.attempts ?? [],
    error: end?.outcome.error?.message ?? (answered === undefined ? 'It did not end.' : null),
    latencyMs: Math.round(end?.outcome.latencyMs ?? 0),
    costNano: end?.outcome.costNano ?? null,
  }
}

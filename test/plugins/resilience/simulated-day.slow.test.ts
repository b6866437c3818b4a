// Ten minutes of trouble on a simulated clock: twelve accounts of three providers behind one virtual model, with outages, storms of 429
// and slow nodes. Compared with an oracle that always knows the health of every account.
import { describe, expect, it } from 'vitest'
import { type Simulation, simulate } from '../../../adapters/simulation/engine.ts'
import type { SimulatedAccount } from '../../../adapters/simulation/observer.ts'
import { type ScriptedRequest, type UpstreamAnswer, WORKS } from '../../../adapters/simulation/script.ts'
import type { ConnectionConfig, GatewayConfig } from '../../../core/config/define.ts'
import { preset } from '../../../plugins/preset.ts'

const MINUTES = 10
const DAY_MS = MINUTES * 60_000
const PROVIDERS = ['north', 'east', 'west']
const ACCOUNTS = PROVIDERS.flatMap((provider) => [1, 2, 3, 4].map((number) => `${provider}.${number}`))

type Random = () => number

/** mulberry32: the same day for the same seed. */
function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Trouble {
  readonly kind: 'outage' | 'storm' | 'slow'
  readonly from: number
  readonly to: number
  /** Status in an outage; 0 refuses connections. */
  readonly status: number
  /** In an outage the time until the answer, for a slow node the latency, ms. */
  readonly latencyMs: number
}

/** Outages of single accounts, and sometimes of a provider; storms that end on time; slow nodes. */
function troubles(random: Random): ReadonlyMap<string, readonly Trouble[]> {
  const day = new Map<string, Trouble[]>(ACCOUNTS.map((account) => [account, []]))
  const between = (low: number, high: number) => Math.round(low + random() * (high - low))
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const add = (account: string, kind: Trouble['kind'], from: number, ms: number, status: number, latencyMs: number) =>
    day.get(account)?.push({ kind, from, to: from + ms, status, latencyMs })
  // Failover tries the first ones first, so half of all trouble is theirs.
  const crowded = pick(PROVIDERS)
  const someone = () => (random() < 0.5 ? pick(ACCOUNTS.slice(0, 4)) : pick(ACCOUNTS))
  for (let i = 0; i < 30; i++)
    add(someone(), 'outage', between(0, DAY_MS), between(5000, 60_000), pick([0, 500, 502, 503]), between(5, 400))
  for (let i = 0; i < 80; i++) add(someone(), 'storm', between(0, DAY_MS), between(2000, 30_000), 429, between(5, 60))
  for (let i = 0; i < 10; i++) add(someone(), 'slow', between(0, DAY_MS), between(20_000, 60_000), 200, between(4000, 15_000))
  // Two providers fail at the same time, and the third is overloaded. The first one that is back still has open circuits, and the oracle
  // ignores circuits.
  const start = between(0, DAY_MS - 180_000)
  for (const provider of PROVIDERS) {
    const spared = provider === crowded
    const [from, ms] = [start + between(0, 10_000), spared ? between(40_000, 70_000) : between(15_000, 50_000)]
    for (const account of ACCOUNTS.filter((name) => name.startsWith(provider)))
      add(account, spared ? 'storm' : 'outage', from, ms, spared ? 429 : 503, 20)
  }
  // For some seconds every account fails, so the oracle loses these requests too.
  const [from, ms] = [between(0, DAY_MS), between(6000, 10_000)]
  for (const account of ACCOUNTS) add(account, 'storm', from, ms, 429, 5)
  return day
}

/** Returns the worst active trouble: an outage, then a retry time, then slowness. */
function troubleAt(list: readonly Trouble[] | undefined, at: number): Trouble | undefined {
  const now = (list ?? []).filter(({ from, to }) => from <= at && at < to)
  return ['outage', 'storm', 'slow'].map((kind) => now.find((one) => one.kind === kind)).find((one) => one !== undefined)
}

function answerAt(list: readonly Trouble[] | undefined, at: number): UpstreamAnswer {
  const trouble = troubleAt(list, at)
  if (trouble === undefined) return WORKS
  const { kind, to, status, latencyMs } = trouble
  return { ...WORKS, status, latencyMs, retryAfterSecs: kind === 'storm' ? Math.ceil((to - at) / 1000) : null }
}

const MODEL = 'm'

type Strategy = 'failover' | 'load_balance'

function configuration(strategy: Strategy, settings: object | undefined): GatewayConfig {
  const connections = ACCOUNTS.map((account): [string, ConnectionConfig] => {
    const [provider = ''] = account.split('.')
    return [account, { provider, baseUrl: `http://${provider}.invalid/v1`, wireFormat: 'chat', apiKey: `sk-${account}` }]
  })
  const targets = PROVIDERS.map((provider) => `${provider}/${MODEL}`)
  return {
    connections: Object.fromEntries(connections),
    virtualModels: { coder: { strategy, targets } },
    ...(settings && { settings }),
  } as GatewayConfig
}

function callers(random: Random, count: number): ScriptedRequest[] {
  const body = (stream: boolean) => ({ model: 'coder', messages: [{ role: 'user', content: 'Hello' }], stream })
  return Array.from({ length: count }, () => Math.floor(random() * DAY_MS))
    .sort((a, b) => a - b)
    .map((at) => ({ at, path: '/v1/chat/completions', headers: {}, body: body(random() < 0.3) }))
}

interface Day {
  readonly simulation: Simulation
  /** Fraction of requests that some account could have answered at their arrival, 0 to 1. */
  readonly oracle: number
  /** How many more requests the oracle answered. */
  readonly missed: number
}

interface DayOptions {
  plugins?: ReturnType<typeof preset>
  settings?: object
}

const EARLY = { breaker: { early_probe_secs: 2 } }

async function day(seed: number, strategy: Strategy, { plugins = preset(), settings = EARLY }: DayOptions = {}): Promise<Day> {
  const random = seeded(seed)
  const script = troubles(random)
  const requests = callers(random, 1200)
  const answer = ({ key }: SimulatedAccount, at: number) => answerAt(script.get(key), at)
  const simulation = await simulate({ config: { ...configuration(strategy, settings), plugins }, requests, answer })
  const served = requests.filter(({ at }) => ACCOUNTS.some((account) => answerAt(script.get(account), at).status === 200))
  const answered = simulation.requests.filter(({ status }) => status === 200)
  return { simulation, oracle: served.length / requests.length, missed: served.length - answered.length }
}

/** Returns calls that began between the account's retry hint and its end. */
function callsDuringCooldown({ calls }: Simulation): { connection: string; startedAt: number; until: number }[] {
  const waits = calls.flatMap(({ connection, answeredAt, answer: { retryAfterSecs } }) =>
    retryAfterSecs === null ? [] : [{ connection, from: answeredAt, until: answeredAt + retryAfterSecs * 1000 }],
  )
  return calls.flatMap(({ connection, startedAt }) =>
    waits
      .filter((wait) => wait.connection === connection && wait.from < startedAt && startedAt < wait.until)
      .map(({ until }) => ({ connection, startedAt, until })),
  )
}

// A day takes seconds of computing, and a shared machine may be slow.
describe('ten minutes of outages, 429 storms and slow nodes', { timeout: 300_000 }, () => {
  it.each([
    [1, 'failover'],
    [2, 'failover'],
    [3, 'load_balance'],
    [4, 'load_balance'],
  ] as const)('seed %i, %s: as good as whoever knows everything, and no call too many', async (seed, strategy) => {
    const { simulation, oracle, missed } = await day(seed, strategy)
    const { requests, calls, accounts } = simulation
    expect(missed).toBeLessThanOrEqual(0.005 * requests.length)
    expect(callsDuringCooldown(simulation)).toEqual([])
    const sent = requests.map(({ attempts }) => attempts.filter(({ skipped }) => skipped === undefined).length)
    expect(Math.max(...sent)).toBeLessThanOrEqual(8)
    // The timeline contains every call.
    expect(sent.reduce((sum, count) => sum + count, 0)).toBe(calls.length)
    // The day had trouble for the oracle, too.
    expect(oracle).toBeLessThan(1)
    expect(calls.filter(({ answer: { status } }) => status !== 200).length).toBeGreaterThan(20)
    expect([...accounts.values()].reduce((sum, { cooldown }) => sum + cooldown, 0)).toBeGreaterThan(20_000)
  })

  it('without this plugin the same day has calls during cooldowns: what is measured can be missed', async () => {
    const { simulation } = await day(3, 'load_balance', { plugins: preset({ resilience: false }), settings: {} })
    expect(callsDuringCooldown(simulation).length).toBeGreaterThan(20)
  })

  it('without a look at open circuits before their time it misses more than two requests in a hundred', async () => {
    const { simulation, missed } = await day(2, 'failover', { settings: { breaker: { early_probe_secs: 0 } } })
    expect(missed).toBeGreaterThan(0.02 * simulation.requests.length)
  })

  it('the same seed is the same day', async () => {
    const [first, second] = [await day(5, 'load_balance'), await day(5, 'load_balance')]
    expect(first.simulation.calls).toEqual(second.simulation.calls)
    expect(first.simulation.requests.map(({ latencyMs }) => latencyMs)).toEqual(
      second.simulation.requests.map(({ latencyMs }) => latencyMs),
    )
  })
})

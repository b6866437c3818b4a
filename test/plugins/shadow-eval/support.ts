// A gateway that samples every request of the virtual model `work`: `chat/dear` answers, `chat/cheap` is asked the same, `chat/judge`
// compares. The clock is fake.
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Reply } from '../../../adapters/testing/replies/reply.ts'
import { choose, type RecordedRequest, reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { type PresetOptions, preset } from '../../../plugins/preset.ts'

const NOW = Date.UTC(2026, 10, 18, 12)
export const DAY = 86_400_000
/** USD for 1M tokens. */
const PRICES = [
  { model: '*/dear', input: 10, output: 40 },
  { model: '*/cheap', input: 1, output: 4 },
  { model: '*/judge', input: 2, output: 8 },
]
export const USAGE = { input: 100, output: 20 }

export interface Sample {
  id: number
  request_id: string
  key_id: number | null
  user_id: string | null
  served_model: string
  challenger: string
  served_cost_usd: number
  challenger_cost_usd: number | null
  score_cost_usd: number | null
  state: 'queued' | 'running' | 'scored' | 'failed'
  score: number | null
  method: string | null
  confidence: string | null
  error: string | null
}

interface Shadow {
  enabled: boolean
  today: { cap_usd: number; spent_usd: number; reserved_usd: number; stopped_until: string | null } | null
  summary: { served_model: string; challenger: string; samples: number; score: number }[]
  data: Sample[]
  next_cursor: string | null
}

export interface Site {
  readonly t: TestGateway
  readonly clock: FakeClock
  /** Moves time without running timers. */
  jump(ms: number): void
  /** The answer of each model: a reply, or what makes it from the request. */
  readonly answers: Map<string, Reply | ((request: RecordedRequest) => Step)>
  ask(body?: object, headers?: Record<string, string>): Promise<{ status: number; text: string }>
  api<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<{ status: number; body: T }>
  shadow(): Promise<Shadow>
  /** Lets waiting samples be written, and everything that is due be replayed. */
  replayed(count?: number): Promise<Shadow>
  /** Resolves when as many samples are written. */
  sampled(count: number): Promise<Shadow>
  models(): string[]
}

export async function site(
  options: TestGatewayOptions & { preset?: PresetOptions; settings?: Record<string, unknown> } = {},
): Promise<Site> {
  const still = fakeClock(NOW)
  let offset = 0
  const clock: FakeClock = Object.defineProperties({ ...still } as FakeClock, {
    now: { value: () => still.now() + offset },
    pending: { get: () => still.pending },
  })
  const answers: Site['answers'] = new Map()
  const answer = choose((request) => {
    const found = answers.get(String(request.json.model)) ?? { text: 'Yes.' }
    return typeof found === 'function' ? found(request) : reply({ usage: USAGE, ...found })
  })
  const { preset: plugins, settings, ...rest } = options
  const t = await createTestGateway({
    upstream: [answer],
    ...rest,
    env: { SHADOW_EVAL_ENABLED: 'true', SHADOW_SAMPLE_RATE: '1', ...rest.env },
    config: {
      plugins: preset(plugins),
      virtualModels: { work: { strategy: 'failover', targets: ['chat/dear', 'chat/cheap'] } },
      ...(settings && { settings: settings as never }),
      ...rest.config,
    },
    ports: { clock, ...rest.ports },
  })
  const api: Site['api'] = async (method, path, body) => {
    const response = await t.fetch(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: (await response.json()) as never }
  }
  const priced = await api('PUT', '/api/pricing/overrides', { data: PRICES })
  if (priced.status !== 200) throw new Error(JSON.stringify(priced))
  const shadow = async () => {
    const { status, body } = await api<Shadow>('GET', '/api/shadow?limit=200')
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
  const until = async (fits: (found: Shadow) => boolean, step: string): Promise<Shadow> => {
    for (let tries = 0; tries < 400; tries++) {
      const found = await shadow()
      if (fits(found)) return found
      await clock.advance(step)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    throw new Error(`Not reached: ${JSON.stringify(await shadow(), null, 1)}`)
  }
  let asked = 0
  return {
    t,
    clock,
    jump(ms) {
      offset += ms
    },
    answers,
    async ask(body = {}, headers = {}) {
      const settled = t.settled.filter(({ ctx }) => ctx.ingress !== null).length
      const sent = { model: 'work', messages: [{ role: 'user', content: `Question ${++asked}?` }], ...body }
      const response = await t.post('/v1/chat/completions', sent, headers)
      const text = await response.text()
      while (t.settled.filter(({ ctx }) => ctx.ingress !== null).length <= settled)
        await new Promise((done) => setImmediate(done))
      return { status: response.status, text }
    },
    api,
    shadow,
    sampled: (count) => until(({ data }) => data.length >= count, '60ms'),
    async replayed(count = 1) {
      await until(({ data }) => data.length >= count, '60ms')
      return until(({ data }) => data.filter(({ state }) => state === 'scored' || state === 'failed').length >= count, '8s')
    },
    models: () => t.upstream.requests.map(({ json }) => String(json.model)),
  }
}

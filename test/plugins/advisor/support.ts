// A gateway with given prices and a scripted upstream whose answers follow the model, and a clock that also jumps.
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { choose, fail, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

export const NOW = Date.UTC(2026, 10, 18, 12)
export const DAY = 86_400_000

/** USD for 1M tokens. */
const PRICES = [
  { model: '*/dear', input: 10, output: 40, cache_read: 1, cache_write: 12.5 },
  { model: '*/cheap', input: 1, output: 4, cache_read: 0.1, cache_write: 1.25 },
]

export interface Recommendation {
  id: string
  kind: string
  title: string
  est_monthly_usd: number
  confidence: number
  evidence: Record<string, unknown>
  apply_action: { type: string; params: Record<string, unknown> } | null
  apply_hint: string
}

export interface Ask {
  model: string
  /** The text of the question; default: a new one each time. */
  text?: string
  system?: string
  tool?: string
  stream?: boolean
  via?: 'chat' | 'messages'
  headers?: Record<string, string>
}

export interface World {
  readonly t: TestGateway
  readonly clock: FakeClock
  /** Moves time without running timers. */
  jump(ms: number): void
  /** Tokens of each answer, and targets that fail: `provider/model` → part of the calls. */
  usage: { input: number; output: number }
  readonly failing: Map<string, number>
  /** Time of the clock that passes before each piece of an answer. */
  slowMs: number
  ask(what: Ask): Promise<number>
  api<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<{ status: number; body: T }>
  /** Computed anew. */
  advice(): Promise<Recommendation[]>
}

let asked = 0

export async function world(options: TestGatewayOptions = {}): Promise<World> {
  const clock = fakeClock(NOW)
  let offset = 0
  const jumping: FakeClock = Object.defineProperties({ ...clock } as FakeClock, {
    now: { value: () => clock.now() + offset },
    pending: { get: () => clock.pending },
  })
  const counted = new Map<string, number>()
  const failing = new Map<string, number>()
  const answer = choose((request) => {
    const model = String(request.json.model)
    const share = failing.get(`${request.dialect}/${model}`) ?? 0
    const nth = (counted.get(model) ?? 0) + 1
    counted.set(model, nth)
    if (Math.floor(nth * share) > Math.floor((nth - 1) * share)) return fail(500, { message: 'overloaded' })
    return reply({ text: `Answer ${nth}.`, usage: self.usage }, self.slowMs > 0 ? { hold: () => clock.advance(self.slowMs) } : {})
  })
  const t = await createTestGateway({ upstream: [answer], ...options, ports: { clock: jumping, ...options.ports } })
  const api: World['api'] = async (method, path, body) => {
    const response = await t.fetch(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: (await response.json()) as never }
  }
  const self: World = {
    t,
    clock: jumping,
    usage: { input: 100, output: 20 },
    failing,
    slowMs: 0,
    jump(ms) {
      offset += ms
    },
    async ask({ model, text = `Question ${++asked}?`, system, tool, stream = false, headers = {} }) {
      const settled = t.settled.length
      offset += 100
      const messages = [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: text },
        ...(tool === undefined
          ? []
          : [
              {
                role: 'assistant',
                tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }],
              },
              { role: 'tool', tool_call_id: 'call_1', content: tool },
            ]),
      ]
      const response = await t.post('/v1/chat/completions', { model, messages, stream }, headers)
      await response.arrayBuffer()
      await t.untilSettled(settled + 1)
      return response.status
    },
    api,
    async advice() {
      await t.untilCommitted(0)
      // Counts are written once a minute, and advice is kept for 15 minutes.
      await clock.advance('70s')
      offset += 16 * 60_000
      const { status, body } = await api<{ data: Recommendation[] }>('GET', '/api/advisor')
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.data
    },
  }
  const priced = await api('PUT', '/api/pricing/overrides', { data: PRICES })
  if (priced.status !== 200) throw new Error(JSON.stringify(priced))
  return self
}

export async function virtualModel(w: World, name: string, targets: (string | object)[], more: object = {}): Promise<number> {
  const { status, body } = await w.api<{ id: number }>('POST', '/api/virtual-models', {
    name,
    strategy: 'failover',
    targets,
    ...more,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}

export async function times(count: number, fn: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await fn(index)
}

/** A sentence of its own for each number, also without its digits. */
export function words(seed: number): string {
  const letters = 'bcdfghjklmnpqrstvwxyz'
  const word = (at: number) => `${letters[at % 21]}a${letters[Math.floor(at / 21) % 21]}o${letters[Math.floor(at / 441) % 21]}i`
  return `${word(seed)} ${word(seed * 7 + 3)} ${word(seed * 31 + 11)} wants to know. `
}

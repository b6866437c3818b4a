// A gateway with a server of rate cards, and its prices.
import type { FakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PriceService } from '../../../core/services.ts'
import type { ModelFactsService } from '../../../plugins/catalog/service.ts'
import type { RateCardService } from '../../../plugins/pricing/service.ts'
import { type CardServer, cardServer } from '../../support/rate-cards/card-server.ts'
import { type RecordingLog, recordingLog } from '../../support/recording-log.ts'

export interface Run {
  id: number | null
  status: string
  source: string | null
  ref: string | null
  models: number
  changed: number
  drifted: number
  refused: number
  error: string | null
}

export interface Price {
  model: string
  provider: string | null
  prices: Record<string, unknown>
  source: string
  matched_key: string | null
  ref: string | null
  price_ref: string | null
  fetched_at: string | null
  stale_since: string | null
  drift: { flagged: true; pct: number; field: string; detected_at: string } | null
}

export interface World extends TestGateway {
  readonly cards: CardServer
  readonly clock: FakeClock
  /** Advances the wall clock by this many days; no timer fires. */
  jump(days: number): void
  readonly log: RecordingLog
  readonly prices: PriceService
  readonly rateCard: RateCardService
  readonly facts: ModelFactsService
  readonly events: unknown[]
  sync(): Promise<Run>
  price(model: string, more?: string): Promise<Price>
  put(body: unknown): Promise<Response>
  get<T>(path: string): Promise<T>
}

/** Fetches start only when the clock advances. */
export async function world(options: TestGatewayOptions & { cards?: CardServer } = {}): Promise<World> {
  const cards = options.cards ?? (await cardServer())
  const timers = fakeClock()
  let jumped = 0
  const clock: FakeClock = Object.assign(Object.create(timers), { now: () => timers.now() + jumped })
  const log = recordingLog()
  const events: unknown[] = []
  const found: { prices?: PriceService; rateCard?: RateCardService; facts?: ModelFactsService } = {}
  const witness = definePlugin({
    name: 'witness',
    requires: ['prices', 'rateCard', 'modelFacts'],
    setup(gateway) {
      found.prices = gateway.use('prices')
      found.rateCard = gateway.use('rateCard')
      found.facts = gateway.use('modelFacts')
      gateway.events.on('pricing.drift_detected', (event) => void events.push(event))
    },
  })
  const t = await createTestGateway({
    ...options,
    env: { PRICING_SYNC_ENABLED: 'true', ...cards.urls, ...options.env },
    plugins: [witness(), ...(options.plugins ?? [])],
    ports: { clock, log, ...options.ports },
  })
  const get = async <T>(path: string): Promise<T> => {
    const response = await t.fetch(path)
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  return {
    ...t,
    cards,
    clock,
    log,
    events,
    prices: found.prices as PriceService,
    rateCard: found.rateCard as RateCardService,
    facts: found.facts as ModelFactsService,
    get,
    jump(days) {
      jumped += days * 86_400_000
    },
    async sync() {
      const response = await t.fetch('/api/pricing/sync', { method: 'POST' })
      if (response.status !== 200) throw new Error(`sync: ${response.status} ${await response.text()}`)
      return (await response.json()) as Run
    },
    price: (model, more = '') => get<Price>(`/api/pricing/resolve?model=${encodeURIComponent(model)}${more}`),
    put: (body) =>
      t.fetch('/api/pricing/overrides', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async close() {
      await t.close()
      if (options.cards === undefined) await cards.close()
    },
  }
}

/** Returns a card with another price of one model. */
export function withPrices(card: Record<string, object>, model: string, prices: object): Record<string, object> {
  return { ...card, [model]: { ...card[model], ...prices } }
}

/** Returns a card without these models. */
export function without(card: Record<string, object>, ...models: string[]): Record<string, object> {
  return Object.fromEntries(Object.entries(card).filter(([name]) => !models.includes(name)))
}

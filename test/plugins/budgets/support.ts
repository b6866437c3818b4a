// Gateways with fixed prices, budgets created through the API, and recorders of events.
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { BudgetEvent } from '../../../plugins/budgets/alerts/announcement.ts'
import type { LedgerService } from '../../../plugins/ledger/service.ts'
import { preset } from '../../../plugins/preset.ts'
import { makeKey } from '../keys/support.ts'

/** USD per token: 1,000 nano-USD input, 10,000 output. */
export const PRICE = { input: 1e-6, output: 1e-5 }

/** Listed before the preset, because the first provider of a service wins. Model `free` has no price, `dear` costs ten times as much. */
const fixedPrices = definePlugin({
  name: 'test-prices',
  setup(gateway) {
    gateway.provide('prices', {
      price({ usage, model }) {
        if (model === 'free') return null
        const times = model === 'dear' ? 10 : 1
        const costNano = Math.ceil((usage.inputTotal * PRICE.input + usage.outputTotal * PRICE.output) * 1e9 - 1e-3) * times
        return { costNano, chargeNano: costNano, ref: 'test' }
      },
    })
  },
})

const factsLayer = definePlugin({
  name: 'test-facts',
  requires: ['modelFacts'],
  setup(gateway) {
    return gateway.use('modelFacts').layer((_provider, model) => {
      if (model === 'free') return null
      const times = model === 'dear' ? 10 : 1
      const price = { input: PRICE.input * 1e15 * times, output: PRICE.output * 1e15 * times }
      return { price, ...(model === 'short' ? { maxOutputTokens: 1000 } : {}) }
    })
  },
})

export interface AlertHistory {
  readonly type: string
  readonly data: BudgetEvent
  readonly orgId: number | null
}

export interface Site {
  readonly t: TestGateway
  readonly clock: WallClock
  readonly ledger: LedgerService
  readonly inside: PluginGateway
  readonly history: AlertHistory[]
  /** Sends a request; its answer has only output tokens. */
  ask(body?: object, headers?: Record<string, string>): Promise<Response>
  /** Sends a request, reads the answer, waits until it is booked. */
  spend(body?: object, headers?: Record<string, string>): Promise<number>
  budget(body: object): Promise<Made>
  shown(id: number): Promise<Made>
  api<T = Made>(method: string, path: string, body?: object): Promise<{ status: number; body: T }>
  balance(name: string, windowStart?: number): Promise<{ spent: number; reserved: number }>
  key: typeof makeKey extends (t: never, body?: infer B) => infer R ? (body?: B) => R : never
  close(): Promise<void>
}

export interface Made {
  id: number
  spend_usd: number
  reserved_usd: number
  effective_limit_usd: number
  hard_limit_usd: number
  window_start: string
  window_end: string
  [member: string]: unknown
}

/** Returns an answer with this usage. */
export const used = (input: number, output: number): Step => reply({ text: 'Hello.', usage: { input, output } })

/** 2026-11-21, noon in UTC: half a day after midnight, two thirds into a month. */
export const NOON = Date.UTC(2026, 10, 21, 12)

/** A clock whose wall time can jump, without the timers of the time between. */
export interface WallClock extends FakeClock {
  jump(hours: number): void
}

export function wallClock(start = NOON): WallClock {
  const clock = fakeClock(start)
  let ahead = 0
  return Object.assign(Object.create(clock) as FakeClock, {
    now: () => clock.now() + ahead,
    jump: (hours: number) => {
      ahead += hours * 3_600_000
    },
  })
}

export async function site(options: TestGatewayOptions & { now?: number } = {}): Promise<Site> {
  const { now = NOON, ...rest } = options
  const clock = (options.ports?.clock as WallClock | undefined) ?? wallClock(now)
  const history: AlertHistory[] = []
  let inside: PluginGateway | undefined
  const ears = definePlugin({
    name: 'test-ears',
    requires: ['ledger'],
    setup(gateway) {
      gateway.use('ledger')
      inside = gateway as never
      for (const type of ['budget.threshold_crossed', 'budget.crossed', 'budget.projected_exceeded'] as const)
        gateway.events.on(type, (data, { orgId }) => void history.push({ type, data, orgId }))
    },
  })
  const t = await createTestGateway({
    upstream: [used(0, 100)],
    ...rest,
    config: { ...rest.config, plugins: [fixedPrices(), ...(rest.config?.plugins ?? preset())] },
    plugins: [factsLayer(), ...(rest.plugins ?? []), ears()],
    ports: { clock, ...rest.ports },
  })
  const gateway = inside as unknown as PluginGateway
  const ledger = gateway.use('ledger')
  const api: Site['api'] = async (method, path, body) => {
    const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await t.fetch(path, { method, ...init })
    return { status: response.status, body: (await response.json()) as never }
  }
  const ask: Site['ask'] = (body = {}, headers = {}) =>
    t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], ...body }, headers)
  return {
    t,
    clock,
    ledger,
    inside: gateway,
    history,
    ask,
    api,
    async spend(body, headers) {
      const settled = t.settled.length
      const response = await ask(body, headers)
      await response.arrayBuffer()
      await t.untilSettled(settled + 1)
      await turns()
      return response.status
    },
    async budget(body) {
      const made = await api('POST', '/api/budgets', body)
      if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.body)}`)
      return made.body
    },
    shown: async (id) => (await api('GET', `/api/budgets/${id}`)).body,
    async balance(name, windowStart = 0) {
      await turns()
      const [found] = await ledger.balances(gateway.db, [{ name, windowStart }])
      return { spent: found?.spentNano ?? 0, reserved: found?.reservedNano ?? 0 }
    },
    key: (body) => makeKey(t, body),
    close: () => t.close(),
  }
}

/** Settlements are committed after the answer, and evaluated after that. */
export async function turns(count = 25): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export const org = { scope: 'org', window: 'daily' } as const

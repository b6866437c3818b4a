// A preview, of a saved virtual model and of a draft with the same body, names the target that the next request is sent to.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chatDialect } from '../../../adapters/dialects/chat/index.ts'
import { headerBag } from '../../../core/http/headers.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { estimateRequest } from '../../../core/models/token-estimate.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { ModelFacts } from '../../../plugins/catalog/service.ts'
import { type Blocked, blockedAccounts } from './blocked-accounts.ts'
import { type Site, seeded, site } from './support.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const
const blocked: Blocked = {}
/** By `provider/model`. */
const facts = new Map<string, Partial<ModelFacts>>()

const world = definePlugin({
  name: 'world',
  requires: ['modelFacts'],
  setup(gateway) {
    gateway.use('modelFacts').layer((provider, model) => facts.get(`${provider}/${model}`) ?? null)
  },
})

let s: Site
beforeAll(async () => {
  // Connection `d` may serve models that begin with `x` only.
  s = await site(NAMES, {
    plugins: [world(), blockedAccounts(blocked, { breaker: 'closed', inflight: 0 })],
    narrow: { d: ['x*'] },
    options: { random: seeded(5) },
  })
})
afterAll(() => s.close())

const rarely = (arbitrary: fc.Arbitrary<boolean>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary })
const known = <T>(...values: T[]) => fc.constantFrom(undefined, ...values)
const targetOf = (provider: string) =>
  fc.record({
    provider: fc.constant(provider),
    free: fc.boolean(),
    weight: fc.constantFrom(0, 1, 1, 3),
    enabled: fc.constantFrom(true, true, true, false),
    down: rarely(fc.boolean()),
    window: known(40, 100_000),
    vision: known(true, false),
    tools: known(true, false),
    price: known(0, 1e6, 5e6, 9e6),
  })

const situation = fc.record({
  strategy: fc.constantFrom('failover', 'load_balance', 'weighted', 'cost_optimized', 'latency_based', 'fusion', 'pipeline'),
  targets: fc.shuffledSubarray([...NAMES], { minLength: 2 }).chain((names) => fc.tuple(...names.map(targetOf))),
  buffer: fc.constantFrom(0, 0.5),
  words: fc.constantFrom(1, 200),
  picture: rarely(fc.boolean()),
  tool: rarely(fc.boolean()),
  maxTokens: fc.constantFrom(1, 5000),
})

function requestOf({ words, picture, tool, maxTokens }: { words: number; picture: boolean; tool: boolean; maxTokens: number }) {
  const parts = [
    { type: 'text', text: 'word '.repeat(words) },
    ...(picture ? [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] : []),
  ]
  return {
    messages: [{ role: 'user', content: parts }],
    max_tokens: maxTokens,
    ...(tool ? { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] } : {}),
  }
}

const tokensOf = (body: object): number => {
  const bytes = encodeUtf8(JSON.stringify({ model: 'm', ...body }))
  return estimateRequest(chatDialect.decodeRequest(wireBody(bytes), headerBag(), { operation: 'chat' }))
}

interface Seen {
  generated_at: string
  order: { target: string; draw_probability?: number }[]
  dropped: { target: string; reason: string }[]
}

let made = 0

it('names the target of the next request, over random virtual models, states and requests', async () => {
  await fc.assert(
    fc.asyncProperty(situation, async ({ strategy, targets, buffer, ...asked }) => {
      const number = ++made
      for (const name of NAMES) delete blocked[name]
      const body = {
        name: `vm-${number}`,
        strategy,
        config: { latency_buffer: buffer },
        targets: targets.map(({ provider, free, weight, enabled, down, window, vision, tools, price }) => {
          const target = `${provider}/${free ? 'x' : 'm'}-${number}`
          facts.set(target, {
            capabilities: {
              ...(vision === undefined ? {} : { vision }),
              ...(tools === undefined ? {} : { function_calling: tools }),
            },
            ...(window === undefined ? {} : { contextWindow: window }),
            ...(price === undefined ? {} : { price: { input: price, output: price } as ModelFacts['price'] }),
          } as Partial<ModelFacts>)
          if (down) blocked[provider] = { reason: 'circuit_open', until: null }
          return { target, weight, enabled }
        }),
      }
      const { id } = await s.make(body)
      const request = requestOf(asked)
      const needs = {
        input_tokens: tokensOf(request),
        max_tokens: asked.maxTokens,
        stream: false,
        features: [...(asked.picture ? ['vision'] : []), ...(asked.tool ? ['tools'] : [])],
      }
      const stated = Object.entries(needs).map(([name, value]) => [name, String(value)])
      const query = new URLSearchParams(stated.filter(([, text]) => text !== ''))
      for (let round = 0; round < 2; round++) {
        const saved = await s.json<Seen>(`/api/virtual-models/${id}/preview?${query}`)
        const response = await s.t.post('/api/virtual-models/preview', { ...body, request: needs })
        const { shadows_model: _, ...draft } = (await response.json()) as Seen & { shadows_model: boolean }
        expect({ ...draft, generated_at: '' }).toEqual({ ...saved, generated_at: '' })
        const settled = s.t.settled.length
        const answer = await s.ask(body.name, request)
        await answer.text()
        await s.t.untilSettled(settled + 1)
        const calls = (s.t.settled.at(-1)?.ctx.attempts ?? []).filter(({ skipped }) => skipped === undefined)
        const called = calls.map(({ candidate: { target } }) => `${target.provider}/${target.model}`)
        const order = saved.order.map(({ target }) => target)
        const label = `${JSON.stringify(body)} ${JSON.stringify(saved)}`
        const firstStep = body.targets.find(({ enabled }) => enabled)?.target
        if (order.length === 0 || (strategy === 'pipeline' && order[0] !== firstStep)) expect(called, label).toEqual([])
        else if (strategy === 'fusion' && order.length > 1 && !asked.tool) {
          const panel = calls.flatMap(({ role }, index) => (role === 'panel' ? [called[index] as string] : []))
          expect(panel.sort(), label).toEqual([...order].sort())
        } else if (strategy === 'weighted') {
          const odds = new Map(saved.order.map(({ target, draw_probability }) => [target, draw_probability]))
          expect(odds.get(called[0] as string), label).toBeGreaterThan(0)
        } else expect(called[0], label).toBe(order[0])
      }
    }),
    { numRuns: 200, seed: 3, endOnFailure: true },
  )
}, 60_000)

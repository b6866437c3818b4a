// A preview tells the whole order in which the next request tries its targets, with the real plugins for account state, quota, policy and
// keys behind it; and a preview of a draft moves no rotation, no draw and no measurement.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { chatDialect } from '../../../adapters/dialects/chat/index.ts'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { headerBag } from '../../../core/http/headers.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { estimateRequest } from '../../../core/models/token-estimate.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import type { ModelFacts } from '../../../plugins/catalog/service.ts'
import { call } from '../connections/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { type Site, seeded, site } from './support.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
type Name = (typeof NAMES)[number]
/** Provider of the account with a personal sign-in: only such accounts have a policy. */
const SIGNED_IN: Name = 'e'
const STATES = [
  'well',
  'well',
  'well',
  'cooldown',
  'limited',
  'model_locked',
  'quota_exhausted',
  'circuit_open',
  'refused',
] as const

/** Time until the quota of an account resets. Between two situations only the wall clock passes it: timers would take minutes. */
const QUOTA_MS = 7_200_000

interface World {
  readonly s: Site
  readonly clock: ReturnType<typeof fakeClock> & { skew: number }
  readonly states: Services['accountState']
  readonly facts: Map<string, Partial<ModelFacts>>
  /** What upstreams answer, by `provider/model`; default: text. */
  readonly says: Map<string, Step>
  readonly draws: { next: number; count: number }
  readonly ids: ReadonlyMap<string, string>
}

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open) await close()
  open = []
})

async function world(random?: () => number): Promise<World> {
  const time = fakeClock()
  const clock = { ...time, skew: 0, now: () => time.now() + clock.skew }
  const facts: World['facts'] = new Map()
  const says: World['says'] = new Map()
  const draws = { next: 0, count: 0 }
  let states: Services['accountState'] | undefined
  const ears = definePlugin({
    name: 'ears',
    requires: ['modelFacts', 'accountState'],
    setup(gateway) {
      states = gateway.use('accountState')
      gateway.use('modelFacts').layer((provider, model) => facts.get(`${provider}/${model}`) ?? null)
    },
  })
  const answer = (name: string): Step => ({
    kind: 'choose',
    choose: ({ json }) => says.get(`${name}/${json.model}`) ?? text(name),
  })
  const db: Database = await openDatabase('sqlite::memory:', '.')
  const s = await site(NAMES, {
    plugins: [ears()],
    resilience: true,
    script: Object.fromEntries(NAMES.map((name) => [name, [answer(name)]])),
    options: {
      random: () => {
        draws.count++
        return random?.() ?? draws.next
      },
    },
    ports: { clock, db },
  })
  open.push(async () => {
    await s.close()
    await db.close()
  })
  const { data } = await s.json<{ data: { id: number; label: string }[] }>('/api/providers')
  const ids = new Map(data.map(({ id, label }) => [label, String(id)]))
  await db.run(sql`UPDATE connections SET auth_type = 'oauth' WHERE id = ${Number(ids.get(SIGNED_IN))}`)
  // A change of a row makes the gateway read the accounts again.
  const { id } = (await (await s.t.post('/api/providers', { provider: 'echo', label: 'changed' })).json()) as { id: number }
  await call(s.t, 'DELETE', `/api/providers/${id}`)
  return { s, clock, states: states as Services['accountState'], facts, says, draws, ids }
}

/** Sends a request to the end; `provider/model` of its attempts without repetition. */
async function send(s: Site, model: string, body: object = {}, headers: Record<string, string> = {}) {
  const settled = s.t.settled.length
  const response = await s.ask(model, body, headers)
  await response.text()
  await s.t.untilSettled(settled + 1)
  const attempts = s.t.settled.at(-1)?.ctx.attempts ?? []
  const tried = attempts.flatMap(({ skipped, candidate: { target } }) => (skipped ? [] : [`${target.provider}/${target.model}`]))
  return { status: response.status, tried: tried.filter((target, index) => target !== tried[index - 1]) }
}

/** Brings an account into a state, as its vendor would. */
async function bring({ s, says }: World, name: string, model: string, state: (typeof STATES)[number]): Promise<void> {
  const day = { 'x-ratelimit-remaining-requests-day': '0', 'x-ratelimit-reset-requests-day': `${QUOTA_MS / 1000}s` }
  const [step, times]: [Step, number] = {
    well: [text(name), 0] as [Step, number],
    cooldown: [fail(529), 1] as [Step, number],
    limited: [fail(429, { headers: { 'retry-after': '600' } }), 1] as [Step, number],
    model_locked: [fail(404), 1] as [Step, number],
    quota_exhausted: [text(name, { headers: day }), 1] as [Step, number],
    circuit_open: [fail(500), 5] as [Step, number],
    refused: [fail(401), 1] as [Step, number],
  }[state]
  const target = `${name}/${model}`
  const before = says.get(target)
  says.set(target, step)
  for (let i = 0; i < times; i++) await send(s, target)
  if (before === undefined) says.delete(target)
  else says.set(target, before)
}

/** The gateway's own estimate, which the preview has no body for. */
const tokensOf = (body: object): number => {
  const bytes = encodeUtf8(JSON.stringify({ model: 'm', ...body }))
  return estimateRequest(chatDialect.decodeRequest(wireBody(bytes), headerBag(), { operation: 'chat' }))
}

const known = <T>(...values: T[]) => fc.constantFrom(undefined, ...values)
const targetOf = (name: Name) =>
  fc.record({
    name: fc.constant(name),
    weight: fc.constantFrom(0, 1, 1, 3),
    enabled: fc.constantFrom(true, true, true, false),
    state: fc.constantFrom(...STATES),
    window: known(40, 100_000),
    vision: known(true, false),
    price: known(0, 1e6, 5e6, 9e6),
    slow: known(20, 40, 300),
  })
const situation = fc.record({
  strategy: fc.constantFrom('failover', 'load_balance', 'weighted', 'cost_optimized', 'latency_based'),
  targets: fc.shuffledSubarray([...NAMES], { minLength: 2 }).chain((names) => fc.tuple(...names.map(targetOf))),
  buffer: fc.constantFrom(0, 0.5),
  turns: fc.integer({ min: 0, max: 3 }),
  draw: fc.double({ min: 0, max: 0.999, noNaN: true }),
  picture: fc.constantFrom(false, false, true),
  policy: fc.constantFrom('auto', 'auto', 'block'),
  allowed: fc.constantFrom([], ['vm-*'], ['other-*']),
})

interface Seen {
  order: { target: string; draw_probability?: number }[]
  dropped: { target: string; reason: string }[]
  key?: { allowed: boolean }
}

it('is the order of the next request: 200 random virtual models, account states, policies, keys and signals', async () => {
  const w = await world()
  const { s, clock, facts, says, draws } = w
  const reasons = new Map<string, number>()
  let number = 0
  let refusedKeys = 0
  await fc.assert(
    fc.asyncProperty(situation, async ({ strategy, targets, buffer, turns, draw, picture, policy, allowed }) => {
      const model = `m-${++number}`
      for (const id of w.ids.values()) w.states.clear(id)
      says.clear()
      clock.skew += QUOTA_MS + 60_000
      const policed = await call(s.t, 'PUT', `/api/policy/${SIGNED_IN}`, { mode: 'auto' })
      expect(policed.status).toBe(200)
      const body = {
        name: `vm-${number}`,
        strategy,
        config: { latency_buffer: buffer },
        targets: targets.map(({ name, weight, enabled }) => ({ target: `${name}/${model}`, weight, enabled })),
      }
      for (const { name, window, vision, price } of targets)
        facts.set(`${name}/${model}`, {
          capabilities: vision === undefined ? {} : { vision },
          ...(window === undefined ? {} : { contextWindow: window }),
          ...(price === undefined ? {} : { price: { input: price, output: price } as ModelFacts['price'] }),
        } as Partial<ModelFacts>)
      const { id } = await s.make(body)
      // Measurements, and some turns of the rotation.
      for (const { name, slow } of targets) {
        if (slow === undefined) continue
        says.set(`${name}/${model}`, text(name, { hold: () => clock.advance(slow) }))
        await send(s, `${name}/${model}`)
        says.delete(`${name}/${model}`)
      }
      for (let turn = 0; turn < turns; turn++) await send(s, body.name)
      for (const { name, state } of targets) await bring(w, name, model, state)
      await call(s.t, 'PUT', `/api/policy/${SIGNED_IN}`, { mode: policy })
      const key = await makeKey(s.t, { label: `key-${number}`, allowed_models: allowed })
      const parts = [
        { type: 'text', text: 'hi' },
        ...(picture ? [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] : []),
      ]
      const request = { messages: [{ role: 'user', content: parts }], max_tokens: 5 }
      const needs = { input_tokens: tokensOf(request), max_tokens: 5, stream: false, features: picture ? ['vision'] : [] }
      const query = `input_tokens=${needs.input_tokens}&max_tokens=5&stream=false${picture ? '&features=vision' : ''}`

      const saved = await s.json<Seen>(`/api/virtual-models/${id}/preview?${query}`)
      draws.next = draw
      const drawn = draws.count
      const response = await s.t.post('/api/virtual-models/preview', { ...body, as_key: key.id, request: needs })
      const draft = (await response.json()) as Seen
      expect(draft).toMatchObject({ order: saved.order, dropped: saved.dropped })
      expect(draws.count).toBe(drawn)
      for (const { reason } of saved.dropped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)

      // Every target fails, so the request shows its whole order.
      for (const name of NAMES) says.set(`${name}/${model}`, fail(503))
      const { status, tried } = await send(s, body.name, request, bearer(key.key))
      const label = JSON.stringify({ number, body, saved, status, picture })
      expect(draft.key?.allowed, label).toBe(status !== 403)
      if (status === 403) {
        refusedKeys++
        expect(tried, label).toEqual([])
      } else
        expect(tried, label).toEqual(strategy === 'weighted' ? afterDraw(saved.order, body.targets, draw) : namesOf(saved.order))
    }),
    { numRuns: 200, seed: 11, endOnFailure: true },
  )
  // The draw of situations reached every kind of reason.
  const wanted = ['cooldown', 'model_locked', 'quota_exhausted', 'circuit_open', 'policy_blocked', 'disabled', 'capability']
  expect(wanted.filter((reason) => !reasons.has(reason))).toEqual([])
  expect(refusedKeys).toBeGreaterThan(0)
})

const namesOf = (order: Seen['order']): string[] => order.map(({ target }) => target)

/** The order after a draw in [0, 1): the winner by the odds of the preview, then the others as the preview lists them. */
function afterDraw(order: Seen['order'], listed: readonly { target: string }[], draw: number): string[] {
  const rows = listed.flatMap(({ target }) => order.filter((row) => row.target === target))
  let left = draw
  const first = rows.find(({ draw_probability = 0 }) => {
    left -= draw_probability
    return draw_probability > 0 && left < 0
  })
  return first === undefined ? namesOf(order) : [first.target, ...namesOf(order).filter((target) => target !== first.target)]
}

it('moves nothing: requests with previews between them go where they go without', async () => {
  const strategies = ['load_balance', 'weighted', 'latency_based', 'cost_optimized', 'failover']
  const run = async (previews: boolean) => {
    const w = await world(seeded(7))
    const { s, clock, says } = w
    for (const [index, name] of NAMES.entries())
      says.set(`${name}/m`, text(name, { hold: () => clock.advance(10 + 15 * ((index * 7) % 4)) }))
    const made = []
    for (const strategy of strategies) {
      const body = { name: strategy, strategy, config: { latency_buffer: 0.5 }, targets: NAMES.map((name) => `${name}/m`) }
      made.push({ body, ...(await s.make(body)) })
    }
    const choose = seeded(9)
    const look = async (id: number, body: object, strategy: string): Promise<void> => {
      const draft = { ...body, strategy }
      expect((await s.t.post('/api/virtual-models/preview', draft)).status).toBe(200)
      expect((await s.t.fetch(`/api/virtual-models/${id}/preview`)).status).toBe(200)
    }
    const route: string[] = []
    for (let i = 0; i < 60; i++) {
      const { id, name, body } = made[Math.floor(choose() * made.length)] as (typeof made)[number]
      if (previews) for (const strategy of [name, ...strategies]) await look(id, body, strategy)
      route.push(`${name} ${(await send(s, name)).tried}`)
    }
    const ends = await Promise.all(
      made.map(async ({ id }) => ({ ...(await s.json<Seen>(`/api/virtual-models/${id}/preview`)), generated_at: '' })),
    )
    return { route, draws: w.draws.count, ends }
  }
  const without = await run(false)
  expect(new Set(without.route).size).toBeGreaterThan(10)
  expect(await run(true)).toEqual(without)
})

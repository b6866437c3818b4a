// node bench/plan.mjs [--targets 64] [--rounds 20000]: microseconds of processor time to order the candidates of one request, for each
// strategy, with known facts and prices of every target.
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'

const { values } = parseArgs({
  options: { targets: { type: 'string', default: '64' }, rounds: { type: 'string', default: '20000' } },
})
const size = Number(values.targets)
const rounds = Number(values.rounds)
const jiti = createJiti(import.meta.url)
const load = (path) => jiti.import(`../plugins/virtual-models/${path}.ts`)
const [{ planner }, { plainTarget, PLAIN_CONFIG }, { estimatedCost, listedPrice }] = await Promise.all([
  load('planner'),
  load('recipe'),
  load('strategies/cost'),
])

const targets = Array.from({ length: size }, (_one, index) => ({ ...plainTarget('up', `m${index}`), weight: 1 + (index % 7) }))
const known = new Map(
  targets.map(({ model }, index) => [
    `up/${model}`,
    {
      contextWindow: 128_000,
      maxOutputTokens: 8192,
      capabilities: { vision: true, function_calling: true },
      price: { input: (1 + ((index * 37) % 64)) * 1e9, output: 3e9 },
    },
  ]),
)
const facts = (provider, model) => known.get(`${provider}/${model}`)
const knowledge = {
  facts,
  cost: (provider, model, input, output) => estimatedCost(facts(provider, model), input, output),
  listedPrice: (provider, model) => listedPrice(facts(provider, model)),
}
const candidates = targets.map((target, index) => ({ target, connection: { id: String(index), provider: 'up' } }))
const headers = { get: (name) => (name === 'content-length' ? '400' : name === 'x-session-id' ? 'bench' : null) }
const request = {
  system: [],
  messages: [{ role: 'user', parts: [{ t: 'text', text: 'hi '.repeat(100) }] }],
  tools: [],
  sampling: {},
}
const ctx = {
  operation: 'chat',
  stream: true,
  headers,
  request,
  attempts: [],
  principal: { orgId: null },
  sessionId: null,
  skip() {},
}

for (const ordering of ['failover', 'load_balance', 'weighted', 'cost_optimized', 'latency_based', 'listed_price']) {
  const plans = planner({ knowledge, random: Math.random, monotonic: () => performance.now() })
  for (const [index, { model }] of targets.entries()) plans.latency.answered(`up/${model}`, true, 100 + ((index * 53) % 900))
  const recipe = { name: 'vm', id: 'row:1', orgId: null, ordering, version: '', targets, config: PLAIN_CONFIG }
  const once = () => plans.plan(ctx, plans.route(ctx, recipe), candidates)
  for (let i = 0; i < rounds / 4; i++) once()
  const started = process.cpuUsage()
  for (let i = 0; i < rounds; i++) once()
  const { user, system } = process.cpuUsage(started)
  const micros = (user + system) / rounds
  console.log(`${ordering.padEnd(16)} ${micros.toFixed(2)} us per plan, ${size} targets`)
}

// node bench/semantic-cache.mjs [--seed 1] [--asked 40000]: precision and hit rate of the semantic cache by threshold over the labelled
// pairs in bench/paraphrases, with the local embedder and with degraded ones; then the course of a route whose embedder degrades during
// operation. It tests the mechanism: see bench/paraphrases/embedder.ts for the embedder's limits.
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, asked: { type: 'string', default: '40000' } } })
const seed = Number(values.seed)
const asked = Number(values.asked)
const jiti = createJiti(import.meta.url)
const { labelledPairs } = await jiti.import('./paraphrases/pairs.ts')
const { localEmbedder, cosine, seeded } = await jiti.import('./paraphrases/embedder.ts')
const { precisionOf, routesOf } = await jiti.import('../plugins/semantic-cache/routes.ts')

const pairs = labelledPairs()
const THRESHOLDS = Array.from({ length: 10 }, (_one, i) => Math.round((0.9 + i / 100) * 100) / 100)
const EMBEDDERS = {
  'as it is': {},
  'wavering (noise 0.2)': { noise: 0.2 },
  'collapsing (0.5 alike)': { collapse: 0.5 },
  'collapsing (1.5 alike)': { collapse: 1.5 },
  'collapsing and wavering (1.5, 0.1)': { collapse: 1.5, noise: 0.1 },
  'collapsed (6 alike)': { collapse: 6 },
}

const kinds = new Map()
for (const { kind, same } of pairs)
  kinds.set(`${same ? 'same' : 'different'}/${kind}`, (kinds.get(`${same ? 'same' : 'different'}/${kind}`) ?? 0) + 1)
console.log(`${pairs.length} pairs: ${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')}`)

const percent = (share) => (Number.isNaN(share) ? '    –' : `${(100 * share).toFixed(1)}%`.padStart(6))
for (const [name, options] of Object.entries(EMBEDDERS)) {
  const embed = localEmbedder({ ...options, seed })
  const measured = pairs.map((pair) => ({ ...pair, similarity: cosine(embed(pair.a), embed(pair.b)) }))
  console.log(`\n${name}\nthreshold  precision  hit rate of same  of these surface  reworded  false hits`)
  for (const threshold of THRESHOLDS) {
    const hits = measured.filter(({ similarity }) => similarity >= threshold)
    const right = hits.filter(({ same }) => same)
    const rate = (kind) => {
      const all = measured.filter((pair) => pair.same && (kind === null || pair.kind === kind))
      return all.filter(({ similarity }) => similarity >= threshold).length / all.length
    }
    console.log(
      `     ${threshold.toFixed(2)}     ${percent(right.length / hits.length)}            ${percent(rate(null))}           ${percent(rate('surface'))}    ${percent(rate('reworded'))}  ${String(hits.length - right.length).padStart(10)}`,
    )
  }
}

// A route with half repetitions and half hard negatives: the worst possible traffic.
console.log(`\na route that starts at 0.95, floor 0.90, 5 % of its hits answered afresh, ${asked} questions`)
for (const [name, options] of Object.entries(EMBEDDERS)) {
  const embed = localEmbedder({ ...options, seed })
  const random = seeded(seed + 2)
  const routes = routesOf(0.95, 0.9, () => 0)
  const route = routes.of({ orgId: null, keyId: null, provider: 'up', model: 'm' })
  const similarities = pairs.map(({ a, b }) => cosine(embed(a), embed(b)))
  const served = []
  for (let n = 0; n < asked && routes.usable(route); n++) {
    const at = Math.floor(random() * pairs.length)
    if (similarities[at] < route.threshold) continue
    if (random() < 0.05) routes.compared(route, pairs[at].same)
    else served.push(pairs[at].same)
  }
  const share = (list) => percent(list.filter(Boolean).length / list.length)
  const state = routes.usable(route) ? `serves at ${route.threshold.toFixed(2)}` : 'is off'
  const last = precisionOf(route)
  console.log(
    `${name.padEnd(36)} ${state.padEnd(15)} ${String(served.length).padStart(6)} hits served, right ${share(served)}, of the last 1000 ${routes.usable(route) ? share(served.slice(-1000)) : '     –'}, last samples ${last === null ? '–' : percent(last)}`,
  )
}

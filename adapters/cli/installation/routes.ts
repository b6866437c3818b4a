// `hookgate routes preview`: shows what a draft of a virtual model would try now. It saves nothing.
import { readFileSync } from 'node:fs'
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { type ControlPlane, readControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { count, list } from '../flag-values.ts'
import { usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Seen {
  virtual_model: string
  strategy: string
  order: {
    rank: number
    target: string
    weight: number
    draw_probability?: number
    connections_available: number
    connections_total: number
    signals: { est_cost_usd?: number; latency_ms?: number; latency_samples?: number; quota_remaining_pct?: number }
  }[]
  dropped: { target: string; reason: string; until?: string }[]
  key?: { label: string; allowed: boolean; expired: boolean }
}

export const preview = action({
  name: 'preview',
  description: 'Show what a draft of a virtual model would try now, and what it would leave out.',
  args: {
    file: { type: 'positional', description: 'JSON as for POST /api/virtual-models; `-` reads standard input' },
    'as-key': { type: 'string', description: 'Number of a client key: may it call the model?', valueHint: 'id' },
    assume: {
      type: 'string',
      description: 'Connections to take as up or down: openai/main=down,4=up',
      valueHint: 'connection=state',
    },
    'input-tokens': { type: 'string', description: 'Size of the prompt; default: 1000', valueHint: 'number' },
    'max-tokens': { type: 'string', description: 'Limit of the answer; default: 1024', valueHint: 'number' },
    features: { type: 'string', description: 'Features that the request uses: vision,tools', valueHint: 'names' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { as_key: 'as-key', assume: 'assume' },
  async run(given) {
    const draft = draftIn(given.file as string)
    const request = {
      input_tokens: count('input-tokens', given['input-tokens']),
      max_tokens: count('max-tokens', given['max-tokens']),
      features: list(given.features),
    }
    const as_key = count('as-key', given['as-key'])
    const seen = await readControlPlane(given, async ({ call }) => {
      const assume = given.assume === undefined ? undefined : await assumptions(call, given.assume)
      return call<Seen>('POST', '/api/virtual-models/preview', { ...draft, as_key, assume, request })
    })
    if (given.json) return printJson(seen)
    console.log(orderTable(seen))
    for (const { target, reason, until } of seen.dropped)
      say.info(`${cell(target)} is left out: ${reason}${until === undefined ? '' : ` until ${until}`}.`)
    if (seen.order.length === 0) say.warn('No target is available: a request would be refused.')
    if (seen.key?.allowed === false) say.warn(`The key \`${cell(seen.key.label)}\` may not call \`${seen.virtual_model}\`.`)
    if (seen.key?.expired) say.warn(`The key \`${cell(seen.key.label)}\` has expired.`)
  },
})

/** @throws Error when the file cannot be read or is no JSON object. */
function draftIn(file: string): object {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new Error(`The draft ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  let draft: unknown
  try {
    draft = JSON.parse(text)
  } catch {
    throw new Error('The draft is not JSON. Write it as for POST /api/virtual-models.')
  }
  if (typeof draft === 'object' && draft !== null && !Array.isArray(draft)) return draft
  throw new Error('The draft is not an object. Write it as for POST /api/virtual-models.')
}

async function assumptions(call: ControlPlane['call'], text: string): Promise<object[]> {
  const pairs = (list(text) ?? []).map((pair) => {
    const [, name, state] = /^(.+)=(up|down)$/.exec(pair) ?? []
    if (name === undefined) return failUsage(`\`--assume\`: \`${pair.slice(0, 60)}\` is not like openai/main=down.`)
    return { name, state }
  })
  const { data } = await call<{ data: { id: number; provider: string; label: string }[] }>('GET', '/api/providers')
  return pairs.map(({ name, state }) => {
    const found = data.find(({ id, provider, label }) => name === String(id) || name === `${provider}/${label}`)
    if (found !== undefined) return { connection_id: found.id, state }
    const known = data.map(({ provider, label }) => `${provider}/${label}`).join(', ')
    return failUsage(`\`--assume\`: there is no connection ${name.slice(0, 60)}. There are ${known || 'none'}.`)
  })
}

function orderTable({ order }: Seen): string {
  const rows = order.map(({ rank, target, weight, draw_probability, connections_available, connections_total, signals }) => {
    const { est_cost_usd, latency_ms, latency_samples, quota_remaining_pct } = signals
    return [
      String(rank),
      cell(target),
      draw_probability === undefined ? String(weight) : `${weight} (${Math.round(draw_probability * 100)} %)`,
      `${connections_available} of ${connections_total}`,
      est_cost_usd === undefined ? '-' : usd(est_cost_usd),
      latency_ms === undefined ? '-' : `${latency_ms} ms (${latency_samples})`,
      quota_remaining_pct === undefined ? '-' : `${quota_remaining_pct} %`,
    ]
  })
  return table(['', 'TARGET', 'WEIGHT', 'ACCOUNTS', 'COST', 'LATENCY', 'QUOTA LEFT'], rows)
}

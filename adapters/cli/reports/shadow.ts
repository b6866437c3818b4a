// `hookgate shadow`: shows how cheaper models would have answered; exports and deletes the samples.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { count as limitOf } from '../flag-values.ts'
import { count, localTime, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Sample {
  request_id: string
  at: string
  served_model: string
  challenger: string
  served_cost_usd: number
  challenger_cost_usd: number | null
  state: string
  score: number | null
  method: string | null
  error: string | null
}

interface Shadow {
  enabled: boolean
  sample_rate: number
  today: { cap_usd: number; spent_usd: number; stopped_until: string | null } | null
  summary: { served_model: string; challenger: string; samples: number; score: number; compared_samples: number }[]
  data: Sample[]
  next_cursor: string | null
}

const WHOSE = {
  key: { type: 'string', description: 'Number of the client key; 0: calls without a key', valueHint: 'id' },
  user: { type: 'string', description: 'The caller’s own user, from x-gateway-user-id', valueHint: 'id' },
} as const
const FIELDS = { key_id: 'key', user_id: 'user' } as const

export const listSamples = action({
  name: 'shadow',
  description: 'Show how cheaper models would have answered, by pair of models, and the newest samples.',
  args: {
    ...WHOSE,
    limit: { type: 'string', description: 'Number of samples, up to 200; default: 20', valueHint: 'number' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { ...FIELDS, limit: 'limit' },
  async run({ key, user, limit, ...given }) {
    const query = queryOf({ key_id: key, user_id: user, limit: String(limitOf('limit', limit) ?? 20) })
    const found = await readControlPlane(given, ({ call }) => call<Shadow>('GET', `/api/shadow${query}`))
    if (given.json) return printJson(found)
    const { enabled, sample_rate, today, summary, data } = found
    if (!enabled) say.info('Shadow evaluation is off: set GATEWAY_SHADOW_EVAL_ENABLED or the setting `shadow.enabled`.')
    else console.log(`${sample_rate * 100} % of the requests are sampled.${today === null ? '' : ` ${todayText(today)}`}\n`)
    if (data.length === 0) return say.info('There are no samples.')
    const pairs = summary.map((pair) => [
      cell(pair.served_model),
      cell(pair.challenger),
      count(pair.samples),
      count(pair.compared_samples),
      pair.score.toFixed(2),
    ])
    if (pairs.length > 0)
      console.log(
        `${table(['SERVED', 'CHEAPER', 'SAMPLES', 'COMPARED', 'SCORE'], pairs, {}, ['SAMPLES', 'COMPARED', 'SCORE'])}\n`,
      )
    const rows = data.map((one) => [
      localTime(one.at),
      cell(one.challenger),
      one.error === null ? one.state : `${one.state} (${cell(one.error)})`,
      cell(one.method ?? '–'),
      one.score === null ? '–' : one.score.toFixed(2),
      usd(one.served_cost_usd),
      one.challenger_cost_usd === null ? '–' : usd(one.challenger_cost_usd),
    ])
    console.log(table(['AT', 'CHEAPER', 'STATE', 'METHOD', 'SCORE', 'COST', 'THERE'], rows, {}, ['SCORE', 'COST', 'THERE']))
  },
})

export const exportSamples = action({
  name: 'export',
  description: 'Write the samples, one JSON object a line; those that wait for their score with their texts.',
  args: { ...WHOSE, ...PLANE },
  fields: FIELDS,
  async run({ key, user, ...given }) {
    await readControlPlane(given, async ({ download }) => {
      const { body } = await download(`/api/shadow/export${queryOf({ key_id: key, user_id: user })}`)
      for await (const chunk of body ?? []) process.stdout.write(chunk)
    })
  },
})

export const removeSamples = action({
  name: 'rm',
  description: 'Delete the samples and scores of a key or of a caller’s user, or all of the organization.',
  args: { ...WHOSE, all: { type: 'boolean', description: 'Everything that is kept' }, ...JSON_FLAG, ...PLANE },
  fields: FIELDS,
  async run({ key, user, all, ...given }) {
    if ((key === undefined && user === undefined) === (all !== true))
      failUsage('Give `--key <id>`, `--user <id>` or both, or `--all`.')
    const query = queryOf(all ? { all: 'true' } : { key_id: key, user_id: user })
    const answer = await withControlPlane(given, ({ call }) => call<{ deleted: number }>('DELETE', `/api/shadow${query}`))
    if (given.json) printJson(answer)
    else say.success(`${answer.deleted} are deleted.`)
  },
})

function todayText({ cap_usd, spent_usd, stopped_until }: NonNullable<Shadow['today']>): string {
  const spent = `Today ${usd(spent_usd)} of ${usd(cap_usd)} are spent.`
  return stopped_until === null ? spent : `${spent} The cap is reached: replays go on at ${localTime(stopped_until)}.`
}

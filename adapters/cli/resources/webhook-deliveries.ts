// `hookgate webhook delivery` and `hookgate webhook redeliver`: shows one delivery, and queues undelivered ones again.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { past, TIME_FORMS } from '../instants.ts'
import { localTime, milliseconds } from '../output/figures.ts'
import { cell, printable, printJson, say, table } from '../output/table.ts'

interface Delivery {
  id: string
  endpoint_id: string
  event_type: string
  status: string
  next_attempt_at: string | null
  envelope: Record<string, unknown> | null
  attempt_log: { at: string; status: number | null; error: string | null; duration_ms: number }[]
}

export const delivery = action({
  name: 'delivery',
  description: 'Show one delivery: its event, its attempts and the time of the next one.',
  args: {
    id: { type: 'positional', required: true, description: 'Id of the delivery, such as dlv_…' },
    ...JSON_FLAG,
    ...PLANE,
  },
  async run(given) {
    const path = `/api/webhooks/deliveries/${checked(given.id as string, '<id>')}`
    const found = await readControlPlane(given, ({ call }) => call<Delivery>('GET', path))
    if (given.json) return printJson(found)
    const next = found.next_attempt_at === null ? '' : `, next attempt ${localTime(found.next_attempt_at)}`
    console.log(`${found.id}  ${found.event_type} to ${found.endpoint_id}: ${found.status}${next}\n`)
    const rows = found.attempt_log.map(({ at, status, error, duration_ms }) => [
      localTime(at),
      cell(status),
      milliseconds(duration_ms),
      cell(error),
    ])
    console.log(table(['AT', 'STATUS', 'TOOK', 'ERROR'], rows))
    if (found.envelope !== null) console.log(`\n${printable(JSON.stringify(found.envelope))}`)
  },
})

export const redeliver = action({
  name: 'redeliver',
  description: 'Queue the failed and dead deliveries of an endpoint again. The running server sends them.',
  args: {
    endpoint: { type: 'positional', required: true, description: 'Id of the endpoint' },
    since: { type: 'string', description: `Deliveries made at this time or later: ${TIME_FORMS}`, valueHint: 'time' },
    status: { type: 'string', description: 'failed or dead; default: both', valueHint: 'status' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { endpoint_id: 'endpoint', since: 'since', status: 'status' },
  async run({ endpoint, since, status, ...given }) {
    if (since === undefined) failUsage(`\`--since\` is missing: a time such as ${TIME_FORMS}.`)
    const body = { endpoint_id: checked(endpoint as string, '<endpoint>'), since: past('since', since), status }
    const done = await withControlPlane(given, ({ call }) =>
      call<{ queued: number; remaining: number }>('POST', '/api/webhooks/deliveries/redeliver', body),
    )
    if (given.json) return printJson(done)
    const rest = done.remaining === 0 ? '' : ` ${done.remaining} remain: run the command again.`
    say.success(`${done.queued} ${done.queued === 1 ? 'delivery is' : 'deliveries are'} queued.${rest}`)
  },
})

function checked(id: string, name: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) failUsage(`${name}: \`${id.slice(0, 60)}\` is no id.`)
  return id
}

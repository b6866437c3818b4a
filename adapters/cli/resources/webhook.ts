// `hookgate webhook`: manages the endpoints that receive events. A signing secret is printed once, alone on stdout.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { list } from '../flag-values.ts'
import { localTime } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Endpoint {
  id: string
  url: string
  event_types: string[]
  format: string
  enabled: boolean
  secret_hint: string | null
  failing_since: string | null
}

interface Delivery {
  status: string
  last_status: number | null
  last_error: string | null
}

export const listEndpoints = action({
  name: 'list',
  description: 'List webhook endpoints.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const endpoints = await readControlPlane(given, ({ call }) => call<{ data: Endpoint[] }>('GET', '/api/webhooks/endpoints'))
    if (given.json) return printJson(endpoints)
    const rows = endpoints.data.map((one) => [
      one.id,
      one.enabled ? (one.failing_since === null ? 'ok' : 'failing') : 'disabled',
      cell(one.secret_hint),
      one.format,
      one.event_types.length === 0 ? 'default' : cell(one.event_types),
      one.failing_since === null ? '-' : localTime(one.failing_since),
      cell(one.url),
    ])
    const head = ['ID', 'STATE', 'SECRET', 'FORMAT', 'EVENTS', 'FAILING SINCE', 'URL']
    console.log(table(head, rows, { ok: 'green', failing: 'yellow', disabled: 'dim' }))
  },
})

export const create = action({
  name: 'create',
  description: 'Send events to an address. The signing secret is printed once.',
  args: {
    address: { type: 'positional', required: true, description: 'Address that takes a POST of each event' },
    events: { type: 'string', description: 'Events, between commas; default: those that are on by default', valueHint: 'types' },
    format: { type: 'string', description: 'standard, slack or discord; default: standard', valueHint: 'format' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { url: 'address', event_types: 'events', format: 'format' },
  async run(given) {
    const body = { url: given.address, event_types: list(given.events), format: given.format }
    const made = await withControlPlane(given, ({ call }) =>
      call<Endpoint & { secret: string }>('POST', '/api/webhooks/endpoints', body),
    )
    if (given.json) return printJson(made)
    say.success(`Endpoint ${made.id} is made. Its signing secret is shown this once. Try it: hookgate webhook test ${made.id}`)
    console.log(made.secret)
  },
})

export const test = action({
  name: 'test',
  description: 'Send one signed test event to an endpoint, and say what came of it.',
  args: {
    id: { type: 'positional', required: true, description: 'Id of the endpoint' },
    ...JSON_FLAG,
    ...PLANE,
  },
  async run(given) {
    if (!/^[\w-]{1,64}$/.test(given.id as string))
      failUsage(`<id>: \`${given.id?.slice(0, 60)}\` is not the id in the first column of \`list\`.`)
    const sent = await withControlPlane(given, ({ call }) => call<Delivery>('POST', `/api/webhooks/endpoints/${given.id}/test`))
    const code = sent.status === 'delivered' ? 0 : 1
    if (given.json) {
      printJson(sent)
      return code
    }
    const answer = sent.last_status === null ? '' : ` with ${sent.last_status}`
    if (code === 0) say.success(`It was taken${answer}.`)
    else say.error(`It was not taken${answer}. ${cell(sent.last_error)}`)
    return code
  },
})

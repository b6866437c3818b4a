// `hookgate logs`: prints logged requests, oldest first; with --follow also new ones.
import { action, PLANE } from './action.ts'
import { type ControlPlane, queryOf, readControlPlane } from './control-plane.ts'
import { count, past } from './flag-values.ts'
import type { LogRow, Page } from './logs/row.ts'
import { printJson, say } from './table.ts'

const FILTERS = {
  status: {
    type: 'string',
    description: '200, 4xx, 5xx or error; several between commas, as everywhere here',
    valueHint: 'status',
  },
  provider: { type: 'string', description: 'Provider ids', valueHint: 'ids' },
  model: { type: 'string', description: 'Models, as the provider calls them', valueHint: 'models' },
  'virtual-model': { type: 'string', description: 'Virtual models', valueHint: 'names' },
  key: { type: 'string', description: 'Numbers of client keys', valueHint: 'ids' },
  session: { type: 'string', description: 'Sessions', valueHint: 'ids' },
  user: { type: 'string', description: 'Users', valueHint: 'ids' },
  'cost-center': { type: 'string', description: 'Cost centers', valueHint: 'names' },
  source: { type: 'string', description: '`api`, or who made an internal call', valueHint: 'sources' },
  'min-latency': { type: 'string', description: 'Milliseconds, at least', valueHint: 'ms' },
  'min-cost': { type: 'string', description: 'USD, at least', valueHint: 'usd' },
  search: { type: 'string', description: 'Beginning of a request id, or a piece of an error message', valueHint: 'text' },
} as const

/** Maps each flag to its query member. */
const MEMBERS = {
  status: 'status',
  provider: 'provider',
  model: 'model',
  'virtual-model': 'virtual_model',
  key: 'key_id',
  session: 'session_id',
  user: 'user_id',
  'cost-center': 'cost_center',
  source: 'source',
  'min-latency': 'min_latency_ms',
  'min-cost': 'min_cost_usd',
  search: 'q',
} as const satisfies Record<keyof typeof FILTERS, string>

const fields = Object.fromEntries(Object.entries(MEMBERS).map(([flag, member]) => [member, flag]))

export const logsCommand = action({
  name: 'logs',
  description: 'Show logged requests; with --follow go on as they end.',
  args: {
    follow: { type: 'boolean', description: 'Go on with those that come, until it is interrupted' },
    limit: {
      type: 'string',
      description: 'Number of stored requests to show; default: 50, with --follow 10',
      valueHint: 'number',
    },
    since: { type: 'string', description: 'From when on: 15m, 2h, 2027-01-31, RFC 3339', valueHint: 'time' },
    until: { type: 'string', description: 'Up to when', valueHint: 'time' },
    ...FILTERS,
    json: { type: 'boolean', description: 'JSON for scripts; with --follow a line each' },
    ...PLANE,
  },
  fields: { ...fields, limit: 'limit', since: 'since', until: 'until' },
  async run(given) {
    const { follow: following = false, json = false } = given
    const [{ head, logLine }, { follow }] = await Promise.all([import('./logs/line.ts'), import('./logs/follow.ts')])
    const filters = {
      ...Object.fromEntries(Object.entries(MEMBERS).map(([flag, member]) => [member, given[flag as keyof typeof FILTERS]])),
      since: past('since', given.since),
      until: past('until', given.until),
    }
    const limit = count('limit', given.limit) ?? (following ? 10 : 50)
    const read = (call: ControlPlane['call']) => (query: Record<string, string>) =>
      call<Page>('GET', `/api/logs${queryOf({ ...filters, ...query })}`)
    if (!following) {
      const page = await readControlPlane(given, ({ call }) => read(call)({ limit: String(limit) }))
      if (json) return printJson(page)
      if (page.data.length === 0) return say.info('No logged request fits.')
      console.log([head(), ...page.data.map(logLine).toReversed()].join('\n'))
      if (page.next_cursor !== null) say.info('There are older ones: --limit shows up to 200 at a time, --until goes back.')
      return
    }
    const show = (row: LogRow) => console.log(json ? JSON.stringify(row) : logLine(row))
    const work = async ({ call }: ControlPlane): Promise<void> => {
      if (!json) console.log(head())
      await follow({ read: read(call), first: limit, show })
    }
    // This command runs for long, but only servers fetch prices and probe accounts.
    await readControlPlane(given, work, { PRICING_SYNC_ENABLED: 'false', HEALTH_CHECK_INTERVAL_SECS: '0' })
  },
})

// `hookgate logs`: prints logged requests, oldest first; as `logs tail`, or with --follow, also new ones.
import { FILTER_WORDS, parseFilter } from '../../../core/text/log-filter.ts'
import { action, PLANE } from '../action.ts'
import { allKeys } from '../control-plane/all-keys.ts'
import { type ControlPlane, queryOf, readControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { count } from '../flag-values.ts'
import { past, TIME_FORMS } from '../instants.ts'
import { localTime } from '../output/figures.ts'
import { printJson, say, styled } from '../output/table.ts'
import type { LogRow, Page } from './row.ts'
import type { LoggedAttempt } from './verdicts.ts'

const FILTERS = {
  status: {
    type: 'string',
    description: '200, 4xx, 5xx or error; several between commas, as everywhere here',
    valueHint: 'status',
  },
  provider: { type: 'string', description: 'Provider ids', valueHint: 'ids' },
  model: { type: 'string', description: 'Models, as the provider calls them', valueHint: 'models' },
  'virtual-model': { type: 'string', description: 'Virtual models', valueHint: 'names' },
  key: { type: 'string', description: 'Numbers or labels of client keys', valueHint: 'keys' },
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
  description: `Show logged requests; as \`logs tail\` go on as they end. Words filter them: ${FILTER_WORDS.join(', ')}, as in \`status:5xx\`.`,
  args: {
    words: {
      type: 'positional',
      required: false,
      description: '`tail`, and words such as status:5xx key:ci min_ms:2000; other words search ids and error messages',
    },
    follow: { type: 'boolean', description: 'Go on with those that come, until it is interrupted; the same as `logs tail`' },
    limit: {
      type: 'string',
      description: 'Number of stored requests to show; default: 50, with --follow 10',
      valueHint: 'number',
    },
    since: { type: 'string', description: `From when on: ${TIME_FORMS}`, valueHint: 'time' },
    until: { type: 'string', description: 'Up to when, in the same forms', valueHint: 'time' },
    ...FILTERS,
    json: { type: 'boolean', description: 'JSON for scripts; with --follow a line each' },
    ...PLANE,
  },
  rest: true,
  fields: { ...fields, limit: 'limit', since: 'since', until: 'until' },
  async run(given) {
    const { json = false } = given
    const [first, ...others] = given._
    const following = given.follow === true || first === 'tail'
    const words = first === 'tail' ? others : given._
    const [{ head, logLine }, { follow }] = await Promise.all([import('./line.ts'), import('./follow.ts')])
    const flags = {
      ...Object.fromEntries(Object.entries(MEMBERS).map(([flag, member]) => [member, given[flag as keyof typeof FILTERS]])),
      since: past('since', given.since),
      until: past('until', given.until),
    }
    const limit = count('limit', given.limit) ?? (following ? 10 : 50)
    const reader = async ({ call }: ControlPlane) => {
      const filters = await filtersOf(call, words, flags)
      return (query: Record<string, string>) => call<Page>('GET', `/api/logs${queryOf({ ...filters, ...query })}`)
    }
    if (!following) {
      const { page, lines } = await readControlPlane(given, async (plane) => {
        const page = await (await reader(plane))({ limit: String(limit) })
        const told = json ? null : storyOf(plane)
        const lines: string[] = []
        for (const row of page.data.toReversed()) if (told !== null) lines.push(logLine(row), ...(await told(row)))
        return { page, lines }
      })
      if (json) return printJson(page)
      if (page.data.length === 0) return say.info('No logged request fits.')
      console.log([head(), ...lines].join('\n'))
      if (page.next_cursor !== null) say.info('There are older ones: --limit shows up to 200 at a time, --until goes back.')
      return
    }
    const work = async (plane: ControlPlane): Promise<void> => {
      const read = await reader(plane)
      const told = storyOf(plane)
      const show = async (row: LogRow): Promise<void> =>
        console.log(json ? JSON.stringify(row) : [logLine(row), ...(await told(row))].join('\n'))
      if (!json) console.log(head())
      await follow({ read, first: limit, show, missed })
    }
    // This command runs for long, but only servers fetch prices and probe accounts.
    await readControlPlane(given, work, { PRICING_SYNC_ENABLED: 'false', HEALTH_CHECK_INTERVAL_SECS: '0' })
  },
})

/** On stderr, also with --json: a program that reads the rows must not take them for all. */
function missed(since: string): void {
  say.warn(`More requests came at once than are shown; see \`hookgate logs --until ${localTime(since).slice(11)}\`.`)
}

/** Joins words and flags. @throws WrongUsage for a word that is no filter, or for a filter that is given as a word and as a flag. */
async function filtersOf(
  call: ControlPlane['call'],
  words: readonly string[],
  flags: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string | undefined>> {
  const named = words.some((word) => /^key(?:_id)?:\D/i.test(word)) || /[^\d,]/.test(flags.key_id ?? '')
  const keys = named ? await allKeys<{ id: number; label: string }>(call) : []
  const ids = new Map(keys.map(({ id, label }) => [label, id]))
  const { query, problems } = parseFilter(words.join(' '), ids)
  if (problems[0] !== undefined) failUsage(`${problems[0]} There are ${FILTER_WORDS.join(', ')}.`)
  const twice = Object.keys(query).find((member) => flags[member] !== undefined)
  if (twice !== undefined) failUsage(`\`${twice}\` is given as a word and as a flag.`)
  const key_id = flags.key_id
    ?.split(',')
    .map((key) =>
      /^\d+$/.test(key) ? key : (ids.get(key) ?? failUsage(`\`--key\`: no key has the label \`${key.slice(0, 60)}\`.`)),
    )
    .join(',')
  return { ...flags, key_id, ...query }
}

/** Returns the lines below a request that took several calls. Names of connections are read once, and again for a new connection. */
function storyOf({ call }: ControlPlane): (row: LogRow) => Promise<string[]> {
  let names: ReadonlyMap<string, string> = new Map()
  return async ({ request_id, attempts }) => {
    if (attempts < 2) return []
    const [details, { verdictLine }] = await Promise.all([
      call<{ attempts: LoggedAttempt[] }>('GET', `/api/logs/${request_id}`),
      import('./verdicts.ts'),
    ])
    if (details.attempts.some(({ connection_id }) => !names.has(connection_id))) {
      const { data } = await call<{ data: { id: number; provider: string; label: string }[] }>('GET', '/api/providers')
      names = new Map(data.map(({ id, provider, label }) => [String(id), `${provider}/${label}`]))
    }
    return [styled(verdictLine(details.attempts, names), 'dim')]
  }
}

// GET /api/usage/timeseries: the newest rows of a window by UTC minutes, hours or days. Empty points are zero, up to the maximum number of points.
import { z } from 'zod'
import { shownWindow, windowAnswer, windowOf, windowQuery } from '../../core/http/window.ts'
import { isReplay } from '../../core/records/replays.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { entryOf, Figures, shownTokens, tokensAnswer, usd } from './figures.ts'
import { KeyNames } from './key-names.ts'
import type { UsageReader, UsageRow } from './ledger.ts'
import { CAP } from './summary.ts'

const HOUR_MS = 3_600_000
const BUCKETS = { minute: HOUR_MS / 60, hour: HOUR_MS, day: 24 * HOUR_MS } as const
/** Longer windows use hours, unless the caller requests minutes. */
const MINUTES_UP_TO_MS = 2 * HOUR_MS
/** Longer windows use days, unless the caller requests hours. */
const HOURS_UP_TO_MS = 48 * HOUR_MS
/** Maximum points of one answer; above it, groups are merged. */
const MAX_POINTS = 20_000
const OTHERS = 'other'

const GROUPS = ['provider', 'model', 'key', 'virtual_model', 'cost_center', 'connection'] as const

const GROUP: Readonly<Record<(typeof GROUPS)[number], (row: UsageRow, keys: KeyNames) => string>> = {
  provider: (row) => row.provider ?? 'none',
  model: (row) => (row.model === null ? 'none' : `${row.provider}/${row.model}`),
  key: (row, keys) => keys.idOf(row) ?? 'none',
  virtual_model: (row) => row.virtualModel ?? 'none',
  cost_center: (row) => row.costCenter ?? 'none',
  connection: (row) => row.connectionId ?? 'none',
}

export function timeseriesRoute(gateway: PluginGateway, usage: UsageReader): void {
  gateway.api({
    method: 'GET',
    path: '/api/usage/timeseries',
    summary: 'Requests, tokens and costs of a window over time.',
    role: 'member',
    query: z.strictObject({
      ...windowQuery,
      bucket: z
        .enum(['minute', 'hour', 'day'])
        .optional()
        .describe(
          'In UTC; default: minutes up to two hours, hours up to two days, else days. Of more than 20,000 only those that something happened in.',
        ),
      group_by: z.enum(GROUPS).optional().describe('`connection`: by the id of the connection.'),
    }),
    response: z.strictObject({
      window: windowAnswer,
      bucket: z.enum(['minute', 'hour', 'day']),
      truncated: z.boolean(),
      data: z.array(
        z.strictObject({
          ts: z.string().describe('Beginning of the bucket.'),
          group: z.string().optional(),
          requests: z.int(),
          errors: z.int(),
          tokens: tokensAnswer,
          cost_usd: z.number(),
        }),
      ),
    }),
    async handler({ query, orgId }) {
      const window = windowOf(query, gateway.clock.now())
      const bucket = query.bucket ?? bucketFor(window.until - window.since)
      const width = BUCKETS[bucket]
      const first = Math.floor(window.since / width)
      const count = Math.ceil(window.until / width) - first
      // For long windows in hours, empty points are left out.
      const isSparse = count > MAX_POINTS
      let told = 0
      const groupOf = query.group_by === undefined ? null : GROUP[query.group_by]
      const keys = new KeyNames()
      const series = new Map<string, Map<number, Figures>>()
      if (groupOf === null) series.set('', new Map())
      const { truncated } = await usage.newest({ ...window, orgId }, CAP, (row) => {
        if (isReplay(row)) return
        let name = groupOf === null ? '' : groupOf(row, keys)
        if (!series.has(name) && (isSparse ? told : (series.size + 1) * count) > MAX_POINTS) name = OTHERS
        const points = entryOf(series, name, () => new Map<number, Figures>())
        const at = Math.floor(row.at / width) - first
        if (!points.has(at)) told++
        entryOf(points, at, () => new Figures()).add(row)
      })
      const shownName = new Map([...series.keys()].map((id) => [id, query.group_by === 'key' ? keys.nameOf(id) : id]))
      const names = [...shownName.keys()].sort((a, b) => ((shownName.get(a) as string) < (shownName.get(b) as string) ? -1 : 1))
      const shown = isSparse ? bucketsOf(series) : Array.from({ length: count }, (_, at) => at)
      const data = shown.flatMap((at) =>
        names
          .filter((name) => !isSparse || series.get(name)?.has(at))
          .map((name) => {
            const { requests, errors, tokens, costNano } = series.get(name)?.get(at) ?? NOTHING
            return {
              ts: new Date((first + at) * width).toISOString(),
              ...(groupOf === null ? {} : { group: shownName.get(name) as string }),
              requests,
              errors,
              tokens: shownTokens(tokens),
              cost_usd: usd(costNano),
            }
          }),
      )
      return { window: shownWindow(window), bucket, truncated, data }
    },
  })
}

const NOTHING = new Figures()

function bucketFor(ms: number): keyof typeof BUCKETS {
  if (ms <= MINUTES_UP_TO_MS) return 'minute'
  return ms <= HOURS_UP_TO_MS ? 'hour' : 'day'
}

function bucketsOf(series: ReadonlyMap<string, ReadonlyMap<number, Figures>>): number[] {
  const found = new Set<number>()
  for (const points of series.values()) for (const at of points.keys()) found.add(at)
  return [...found].sort((a, b) => a - b)
}

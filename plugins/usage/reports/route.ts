// GET /api/reports: exact sums over a whole window, streamed in one of three formats.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { streamed } from '../../../core/http/streamed.ts'
import { type Window, windowOf, windowQuery } from '../../../core/http/window.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Savings, UsageGroup, UsageReader } from '../ledger.ts'
import { columnsOf } from './columns.ts'
import { csv } from './csv.ts'
import { json } from './json.ts'
import { parquet } from './parquet.ts'
import { withSavings } from './saved.ts'

const GROUPS: readonly UsageGroup[] = [
  ...(['org', 'key', 'cost_center', 'user', 'provider', 'model', 'virtual_model', 'day', 'month', 'source'] as const),
]

const TYPES = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const
type Format = keyof typeof TYPES

export function reportRoute(gateway: PluginGateway, usage: UsageReader, savings: Savings): void {
  gateway.api({
    method: 'GET',
    path: '/api/reports',
    summary: 'Showback and chargeback: exact sums over a window, as JSON, CSV or Parquet.',
    role: 'member',
    query: z.strictObject({
      ...windowQuery,
      group_by: z
        .string()
        .default('key,model')
        .describe(`Columns to group by, comma-separated, of: ${GROUPS.join(', ')}. Days and months are of UTC.`),
      format: z.enum(['json', 'csv', 'parquet']).optional().describe('Default: what `Accept` asks for, else JSON.'),
    }),
    response: z.strictObject({
      since: z.string(),
      until: z.string(),
      group_by: z.array(z.string()),
      data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
      totals: z.record(z.string(), z.number()),
    }),
    handler({ query, orgId, request }) {
      const window = windowOf(query, gateway.clock.now())
      const by = groupsOf(query.group_by)
      const format = query.format ?? accepted(request.headers.get('accept') ?? '')
      const columns = columnsOf(by)
      const sums = withSavings(usage, savings, { ...window, orgId }, by)
      const content =
        format === 'csv' ? csv(columns, sums) : format === 'json' ? json(columns, sums, window, by) : parquet(columns, sums)
      return new Response(streamed(content), {
        headers: {
          'content-type': TYPES[format],
          'cache-control': 'no-store',
          ...(format === 'json' ? {} : { 'content-disposition': `attachment; filename="${nameOf(window)}.${format}"` }),
        },
      })
    },
  })
}

/** @throws GatewayError 400. */
function groupsOf(text: string): UsageGroup[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  for (const name of names) {
    if (!GROUPS.includes(name as UsageGroup))
      throw GatewayError.invalid('group_by', `\`group_by\`: \`${name.slice(0, 40)}\` is none of ${GROUPS.join(', ')}.`)
  }
  if (new Set(names).size < names.length) throw GatewayError.invalid('group_by', '`group_by` names a column twice.')
  return names as UsageGroup[]
}

/** Returns the most preferred supported format; JSON when none is supported. */
function accepted(accept: string): Format {
  let found: { format: Format; q: number } = { format: 'json', q: 0 }
  for (const range of accept.slice(0, 1000).toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const format =
      type === 'text/csv' ? 'csv' : type.includes('parquet') ? 'parquet' : type === 'application/json' ? 'json' : null
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    if (format !== null && q > found.q) found = { format, q }
  }
  return found.format
}

function nameOf({ since, until }: Window): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  return `report-${day(since)}-${day(until)}`
}

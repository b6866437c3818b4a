// /api/logs. Every route first flushes the queue, so that a request that was just answered is found.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import { jsonAnswer } from '../../core/http/json.ts'
import { deleted } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { bodyPlace } from './bodies/body-writer.ts'
import { bodiesOf, deleteLogged } from './body-store.ts'
import { detailOf, facets, logDetail, logRecord, recordOf, type ShownBodies } from './fields.ts'
import { cursorOf, type LogFilter, ledByIndex, logQuery, type Place } from './filters.ts'
import { facetsOf, type LogRow, placeBelow, rowOf, rowsBetween } from './store.ts'
import { summaryOf, summaryQuery, summaryRecord } from './summary.ts'

const params = z.object({ request_id: z.string().regex(/^(?:req_)?[0-9a-f-]{36}$/) })

/** Takes a few ms, also when rows must be read because no index has the filter. */
const PIECE = 10_000

/** Returns rows, newest first. */
export async function newestRows(db: Db, orgId: number | null, filter: LogFilter, limit: number): Promise<LogRow[]> {
  if (db.dialect !== 'sqlite' || !looksFarAndWide(filter)) return rowsBetween(db, orgId, filter, limit)
  const found: LogRow[] = []
  let below = startOf(filter)
  for (;;) {
    const end = await placeBelow(db, orgId, { ...whoseOf(filter), cursor: below }, PIECE)
    found.push(...(await rowsBetween(db, orgId, { ...filter, cursor: below }, limit - found.length, end)))
    if (found.length >= limit || end === undefined || end[0] < (filter.since ?? 0)) return found
    below = end
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** Returns true when the filter is neither empty nor covered by an index. */
function looksFarAndWide({ cursor: _cursor, since: _since, until: _until, ...asked }: LogFilter): boolean {
  return Object.values(asked).some((value) => value !== undefined) && !ledByIndex(asked)
}

/**
 * Only rows of the session or user are read, so pieces are counted in them and not in the whole log. A session has fewer rows than a
 * user.
 */
function whoseOf({ session_id, user_id }: LogFilter): Pick<LogFilter, 'session_id' | 'user_id'> {
  if (session_id?.length === 1) return { session_id }
  return user_id?.length === 1 ? { user_id } : {}
}

/** Rows above this place cannot match. */
function startOf({ cursor, until }: LogFilter): Place | undefined {
  if (until === undefined || (cursor && cursor[0] < until)) return cursor ?? undefined
  return [until, 0]
}

export function logRoutes(gateway: PluginGateway, flush: () => Promise<void>): void {
  const { db } = gateway

  const detail = async (orgId: number | null, requestId: string) => {
    await flush()
    const row = await rowOf(db, orgId, requestId)
    if (row === undefined) throw missing(requestId)
    return detailOf(row, await shownBodies(gateway, orgId, requestId))
  }

  gateway.api({
    method: 'GET',
    path: '/api/logs',
    summary: 'Logged requests, newest first: metadata only.',
    role: 'member',
    query: logQuery,
    response: z.strictObject({ data: z.array(logRecord), next_cursor: z.string().nullable() }),
    async handler({ query: { limit, ...filter }, orgId }) {
      await flush()
      const rows = await newestRows(db, orgId, filter, limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        data: page.map(recordOf),
        next_cursor: rows.length > limit && last !== undefined ? cursorOf([last.created_at, last.id]) : null,
      }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/logs/facets',
    summary: 'Providers, models and sources of the newest 5,000 requests.',
    role: 'member',
    response: facets,
    async handler({ orgId }) {
      await flush()
      return facetsOf(db, orgId)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/logs/summary',
    summary: 'Outcomes, times and grouped errors of a window, with requests that were refused before any upstream was asked.',
    role: 'member',
    query: summaryQuery,
    response: summaryRecord,
    async handler({ query, orgId }) {
      await flush()
      return summaryOf(db, orgId, query, gateway.clock.now())
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/logs/:request_id',
    summary: 'One logged request with its attempts, and its bodies where they are logged.',
    role: 'member',
    params,
    response: logDetail,
    handler: ({ params: { request_id }, orgId }) => detail(orgId, request_id),
  })

  gateway.api({
    method: 'GET',
    path: '/api/logs/:request_id/export',
    summary: 'The same as a file.',
    role: 'member',
    params,
    response: logDetail,
    async handler({ params: { request_id }, orgId }) {
      const answer = jsonAnswer(200, await detail(orgId, request_id))
      answer.headers.set('content-disposition', `attachment; filename="log-${request_id}.json"`)
      return answer
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/logs/:request_id',
    summary: 'Removes a logged request and its bodies; what it cost stays in the usage.',
    role: 'manage',
    params,
    response: deleted,
    audit: 'log.delete',
    async handler({ params: { request_id }, orgId, audited }) {
      await flush()
      if (!(await deleteLogged(db, orgId, request_id))) throw missing(request_id)
      audited(request_id)
      return { deleted: true as const }
    },
  })
}

function missing(requestId: string) {
  return notFound(`There is no logged request ${requestId}.`)
}

async function shownBodies(gateway: PluginGateway, orgId: number | null, requestId: string): Promise<ShownBodies> {
  const stored = await bodiesOf(gateway.db, orgId, requestId)
  const opened = async (column: 'request_sealed' | 'response_sealed'): Promise<string | null> => {
    const sealed = stored?.[column] ?? null
    if (sealed === null) return null
    try {
      return await gateway.vault.open(sealed, bodyPlace(requestId, orgId, column))
    } catch (error) {
      gateway.log.warn('request_log.body_unreadable', { requestId, column, error: String(error) })
      return null
    }
  }
  return {
    request: await opened('request_sealed'),
    response: await opened('response_sealed'),
    requestTruncated: stored?.request_truncated === 1,
    responseTruncated: stored?.response_truncated === 1,
  }
}

// GET /api/live: the requests that run in this process now, or in all workers. It reads their state on demand, so requests pay nothing
// for it.
import { z } from 'zod'
import { accountOf } from '../../core/records/request-record.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Siblings } from '../../core/types/ports/siblings.ts'
import type { Candidate, LiveRequest } from '../../core/types/request/context.ts'

const text = z.string().nullable()
const count = z.int()

const target = z
  .strictObject({ provider: z.string(), model: z.string(), connection_id: z.string(), connection: z.string() })
  .nullable()
  .describe('The connection that the request is sent to now; null: none yet.')

const running = z.strictObject({
  request_id: z.string(),
  started_at: z.iso.datetime(),
  age_ms: count,
  api_key_label: text,
  model: z.string().describe('As the caller wrote it; empty until the body is read.'),
  virtual_model: text,
  target,
  tries: count.describe('Upstream calls so far, without skipped candidates.'),
  calls: z.array(z.strictObject({ source: z.string(), target })).describe('Internal calls that run for it, such as a panel.'),
  stream: z.boolean(),
  request_bytes: count,
  content_bytes: count.describe('Content of the answer that has arrived so far.'),
  dialect: z.string(),
  operation: z.string(),
  source: z.string(),
})

type Running = z.input<typeof running>

/** Adds the route. It lists requests of the operator's own organization only. Returns what ends the answers to other workers. */
export function runningRoute(gateway: PluginGateway, siblings: Siblings | undefined): (() => void) | undefined {
  gateway.api({
    method: 'GET',
    path: '/api/live',
    summary: 'Requests that run now, the longest first; of several replicas those of one. Figures and names, never content.',
    role: 'member',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(1000).default(200).describe('Largest number of requests.'),
    }),
    response: z.strictObject({ data: z.array(running), total: count.describe('All running requests, also beyond `limit`.') }),
    async handler({ query, orgId }) {
      if (siblings === undefined) return listed(gateway, orgId, query.limit)
      const lists = (await siblings.ask(TOPIC, { orgId, limit: query.limit } satisfies Question)) as Listed[]
      const data = lists.flatMap((list) => list.data).sort(longestFirst)
      return { data: data.slice(0, query.limit), total: lists.reduce((sum, list) => sum + list.total, 0) }
    },
  })
  return siblings?.answer(TOPIC, (question) => {
    const { orgId, limit } = question as Question
    return listed(gateway, orgId, limit)
  })
}

const TOPIC = 'live'

interface Question {
  readonly orgId: number | null
  readonly limit: number
}

interface Listed {
  data: Running[]
  total: number
}

/** Returns the requests of this process. */
function listed(gateway: Pick<PluginGateway, 'live' | 'clock'>, orgId: number | null, limit: number): Listed {
  const mine = [...gateway.live()].filter(({ ctx }) => ctx.principal.orgId === orgId)
  mine.sort((a, b) => a.ctx.startedAt - b.ctx.startedAt || (a.ctx.id < b.ctx.id ? -1 : 1))
  const now = gateway.clock.now()
  return { data: mine.slice(0, limit).map((request) => runningOf(request, now)), total: mine.length }
}

function longestFirst(a: Running, b: Running): number {
  if (a.started_at !== b.started_at) return a.started_at < b.started_at ? -1 : 1
  return a.request_id < b.request_id ? -1 : 1
}

function runningOf({ ctx, calls, contentBytes }: LiveRequest, now: number): Running {
  return {
    request_id: ctx.id,
    started_at: new Date(ctx.startedAt).toISOString(),
    // The wall clock may have been set back.
    age_ms: Math.max(0, Math.round(now - ctx.startedAt)),
    api_key_label: ctx.principal.label,
    model: ctx.requestedModel,
    virtual_model: ctx.virtualModel,
    target: targetOf(ctx.candidate),
    tries: ctx.attempts.filter(({ skipped }) => skipped === undefined).length,
    calls: calls.map(({ ctx: call }) => ({ source: call.source, target: targetOf(call.candidate) })),
    stream: ctx.stream,
    request_bytes: ctx.bodyBytes,
    content_bytes: contentBytes,
    dialect: ctx.dialect,
    operation: ctx.operation,
    source: ctx.source,
  }
}

function targetOf(candidate: Candidate | null): Running['target'] {
  if (candidate === null) return null
  const { connection, target: to } = candidate
  return {
    provider: connection.provider,
    model: to.model,
    connection_id: accountOf(candidate),
    connection: to.shared?.account ?? connection.label,
  }
}

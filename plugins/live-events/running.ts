// GET /api/live: the requests that run in this process now. It reads their state on demand, so requests pay nothing for it.
import { z } from 'zod'
import type { Candidate, LiveRequest } from '../../core/types/context.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'

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

/** Adds the route. It lists requests of the operator's own organization only. */
export function runningRoute(gateway: PluginGateway): void {
  gateway.api({
    method: 'GET',
    path: '/api/live',
    summary: 'Requests that run in this process now, the longest first. Figures and names, never content.',
    role: 'member',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(1000).default(200).describe('Largest number of requests.'),
    }),
    response: z.strictObject({ data: z.array(running), total: count.describe('All running requests, also beyond `limit`.') }),
    handler({ query, orgId }) {
      const mine = [...gateway.live()].filter(({ ctx }) => ctx.principal.orgId === orgId)
      mine.sort((a, b) => a.ctx.startedAt - b.ctx.startedAt || (a.ctx.id < b.ctx.id ? -1 : 1))
      const now = gateway.clock.now()
      return { data: mine.slice(0, query.limit).map((request) => runningOf(request, now)), total: mine.length }
    },
  })
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
  return { provider: connection.provider, model: to.model, connection_id: connection.id, connection: connection.label }
}

// POST /api/playground/run: makes a real request and streams what happens to it, lane by lane.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { headerBag } from '../../core/http/headers.ts'
import { spentNano, usedTokens } from '../../core/records/request-record.ts'
import type { TraceLanes } from '../../core/types/playground.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Attempt, Outcome, RequestContext } from '../../core/types/request/context.ts'
import { EventQueue } from './event-queue.ts'
import { body, dialect, shownOf } from './fields.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Tells proxies not to buffer the stream.
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/** The part of the pipeline that a hook belongs to; all other hooks come before the choice of a candidate. */
const STAGES: Readonly<Record<string, string>> = {
  candidates: 'upstream',
  call: 'upstream',
  attempt: 'upstream',
  prepare: 'upstream',
  encoded: 'upstream',
  response: 'answer',
  settle: 'settle',
}

export function runRoute(gateway: PluginGateway): void {
  const calls = gateway.use('tracedCalls')
  const keys = gateway.optional('keys')

  gateway.api({
    method: 'POST',
    path: '/api/playground/run',
    summary:
      'Makes a real request and streams what happens to it as Server-Sent Events: `sent`, `hook`, `upstream`, `raw`, `delivered`, `done`.',
    role: 'manage',
    body: z.strictObject({
      dialect,
      body,
      as_key: z.int().min(1).optional().describe('Id of a client key: its allow-list, rates and budgets apply.'),
    }),
    audit: 'playground.run',
    handler({ body: { dialect, body, as_key }, orgId, audited }) {
      if (as_key !== undefined && (keys()?.get(orgId, as_key) ?? null) === null)
        throw notFound(`There is no client key ${as_key}.`, 'as_key')
      // The audit log never has text of a prompt.
      const model = typeof body.model === 'string' ? body.model.slice(0, 256) : null
      audited(as_key ?? 'operator', { dialect, body: undefined, model })
      const left = new AbortController()
      const queue = new EventQueue(
        () => void make(),
        () => left.abort(),
      )
      const make = async (): Promise<void> => {
        queue.push('sent', { dialect, body })
        const actsFor = { orgId, keyId: as_key ?? null, source: 'playground' }
        const lanes = lanesInto(queue)
        try {
          await calls.run({ dialect, body }, actsFor, lanes, left.signal)
          lanes.unsettled()
        } catch (thrown) {
          const { status, message, param, code } = GatewayError.from(thrown)
          queue.push('done', { request_id: null, status, error: { message, param, code }, attempts: [] })
        }
        queue.end()
      }
      return new Response(queue.stream, { headers: HEADERS })
    },
  })
}

function lanesInto(queue: EventQueue): TraceLanes & { unsettled(): void } {
  let ended = false
  let sent = 0
  return {
    hook: ({ plugin, hook, us, failed }) => queue.push('hook', { hook, plugin, stage: STAGES[hook] ?? 'request', us, failed }),
    upstream: (call, request, shared) => queue.push('upstream', { call, ...shownOf(request), shared }),
    answered: (call, status) => queue.push('raw', { call, status }),
    raw: (call, text) => queue.push('raw', { call, text }),
    head(status, headers) {
      sent = status
      const bag = headerBag(headers)
      const names = headers.filter((_, index) => index % 2 === 0)
      queue.push('delivered', { status, headers: Object.fromEntries(names.map((name) => [name, bag.get(name)])) })
    },
    delivered: (text) => queue.push('delivered', { text }),
    settled(ctx, outcome) {
      ended = true
      queue.push('done', doneOf(ctx, outcome))
    },
    drained: () => queue.drained(),
    /** The gateway refused the request before it had a route, such as while it shuts down. */
    unsettled() {
      if (!ended) queue.push('done', { request_id: null, status: sent, error: null, attempts: [] })
    },
  }
}

function doneOf(ctx: RequestContext, outcome: Outcome): object {
  const { input, output, cacheRead, cacheWrite, reasoning } = usedTokens(outcome)
  const { costNano, chargeNano } = spentNano(outcome)
  const { error } = outcome
  return {
    request_id: ctx.id,
    status: outcome.status,
    error: error === undefined ? null : { message: error.message, param: error.param, code: error.code },
    virtual_model: ctx.virtualModel,
    cached: outcome.cached,
    usage: { prompt: input, completion: output, cache_read: cacheRead, cache_write: cacheWrite, reasoning },
    cost_usd: costNano === null ? null : costNano / 1e9,
    charge_usd: chargeNano === null ? null : chargeNano / 1e9,
    latency_ms: Math.round(outcome.latencyMs),
    first_byte_ms: outcome.firstByteMs === null ? null : Math.round(outcome.firstByteMs),
    attempts: ctx.attempts.map(attemptOf),
  }
}

function attemptOf({ candidate, role, status, error, latencyMs, action, skipped }: Attempt): object {
  const { connection, target } = candidate
  return {
    provider: connection.provider,
    ...shownAccount(candidate),
    model: target.model,
    role: role ?? null,
    status: status ?? null,
    error: error?.message ?? null,
    latency_ms: latencyMs === undefined ? null : Math.round(latencyMs),
    action: action ?? null,
    skipped: skipped === undefined ? null : { reason: skipped.reason, until: isoOf(skipped.until) },
  }
}

/** Another organization's connection is shown by its account only. */
function shownAccount({ connection, target: { shared } }: Attempt['candidate']): object {
  if (shared === undefined || shared.account === connection.id)
    return { connection_id: Number(connection.id), connection: connection.label }
  return { connection_id: null, connection: shared.account }
}

function isoOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

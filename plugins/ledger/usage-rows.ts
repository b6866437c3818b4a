// Builds usage rows from a request's outcome, and writes them.
import { groupedInsert, type SqlValue } from '../../core/db/grouped-insert.ts'
import { accountOf } from '../../core/records/request-record.ts'
import type { Join, Sql, Statement } from '../../core/types/ports/db.ts'
import type { Usage } from '../../core/types/request/answer.ts'
import type { Attempt, Outcome, RequestContext, Step } from '../../core/types/request/context.ts'
import type { Booked } from './dispatch.ts'
import type { UsageRow, UsageTokens } from './service.ts'

/** Columns that rows of one commit often have in common. */
const SHARED = [
  ...[
    'session_id',
    'user_id',
    'key_id',
    'model',
    'connection_id',
    'provider',
    'requested_model',
    'virtual_model',
    'org_id',
    'step',
  ],
  ...['key_label', 'cost_center', 'source', 'operation', 'stream', 'status', 'media_units', 'estimated', 'price_ref', 'cached'],
  ...['free_pool', 'interrupted'],
]
const OWN = [
  ...['request_id', 'at', 'latency_ms', 'first_byte_ms', 'input_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  ...['output_tokens', 'reasoning_tokens', 'cost_nano', 'charge_nano'],
]
const COLUMNS = [...SHARED, ...OWN]

/** In the order of the columns. */
function valuesOf(row: UsageRow): SqlValue[] {
  const { tokens } = row
  return [
    row.sessionId,
    row.userId,
    row.keyId,
    row.model,
    row.connectionId,
    row.provider,
    row.requestedModel,
    row.virtualModel,
    row.orgId ?? 0,
    row.step,
    row.keyLabel,
    row.costCenter,
    row.source,
    row.operation,
    row.stream ? 1 : 0,
    row.status,
    row.mediaUnits,
    row.estimated ? 1 : 0,
    row.priceRef,
    row.cached,
    row.freePool ? 1 : 0,
    row.interrupted ? 1 : 0,
    row.requestId,
    row.at,
    Math.round(row.latencyMs),
    row.firstByteMs === null ? null : Math.round(row.firstByteMs),
    tokens.input,
    tokens.cacheRead,
    tokens.cacheWrite,
    tokens.output,
    tokens.reasoning,
    row.costNano,
    row.chargeNano,
  ]
}

const ROW = `(${COLUMNS.map(() => '?').join(', ')})`
const CORRECTED = COLUMNS.filter((name) => name !== 'request_id' && name !== 'step')
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')
const INSERT = `INSERT INTO ledger_usage (${COLUMNS.join(', ')}) VALUES `
/** When a request settles twice, the first row stays, unless it only recorded an interruption. */
const ON_CONFLICT = ` ON CONFLICT (request_id, step) DO UPDATE SET ${CORRECTED} WHERE ledger_usage.interrupted = 1`
const ONE = INSERT + ROW + ON_CONFLICT

export function insertRows(rows: readonly UsageRow[]): Statement {
  const params = rows.flatMap(valuesOf)
  const text = rows.length === 1 ? ONE : INSERT + rows.map(() => ROW).join(', ') + ON_CONFLICT
  return { sql: { text, params } }
}

const inserted = groupedInsert({ table: 'ledger_usage', shared: SHARED, own: OWN, conflict: ON_CONFLICT })

const JOIN: Join = {
  joined(statements) {
    const values: SqlValue[][] = []
    for (const { rows } of statements as InsertRows[]) for (const row of rows) values.push(valuesOf(row))
    return { statements: inserted(values) }
  },
}

/** The same as `insertRows`, on SQLite. The rows of one commit are written together. */
export class InsertRows implements Statement {
  readonly rows: readonly UsageRow[]
  readonly join = JOIN

  constructor(rows: readonly UsageRow[]) {
    this.rows = rows
  }

  get sql(): Sql {
    return insertRows(this.rows).sql
  }
}

/** For a request that was recorded as interrupted but never sent. */
export function removeInterrupted(requestId: string): Statement {
  return { sql: { text: 'DELETE FROM ledger_usage WHERE request_id = ? AND interrupted = 1', params: [requestId] } }
}

/**
 * Returns one row per step; one row without a step for a cached answer and for a request that failed upstream. No row when no upstream
 * was called.
 */
export function rowsOf(ctx: RequestContext, outcome: Outcome): UsageRow[] {
  const { steps } = outcome
  if (steps.length > 0) return steps.map((step, index) => stepRow(ctx, outcome, step, index))
  if (outcome.cached !== false) return [unanswered(ctx, outcome, null)]
  const asked = ctx.attempts.findLast((attempt) => attempt.skipped === undefined)
  return asked === undefined ? [] : [unanswered(ctx, outcome, asked)]
}

/** The members are written out, because it runs for each request. */
function stepRow(ctx: RequestContext, outcome: Outcome, step: Step, index: number): UsageRow {
  const { principal } = ctx
  const { usage } = step
  return {
    requestId: ctx.id,
    step: index,
    orgId: principal.orgId,
    at: ctx.startedAt,
    keyId: principal.keyId,
    keyLabel: principal.label,
    userId: ctx.userId,
    sessionId: ctx.sessionId,
    costCenter: ctx.costCenter,
    source: step.source,
    operation: ctx.operation,
    provider: step.provider,
    connectionId: step.connectionId,
    model: step.model,
    requestedModel: ctx.requestedModel,
    virtualModel: ctx.virtualModel,
    stream: ctx.stream,
    // The first row has the status of the request.
    status: index === 0 ? outcome.status : step.status,
    latencyMs: outcome.steps.length === 1 ? outcome.latencyMs : step.latencyMs,
    firstByteMs: index === 0 ? outcome.firstByteMs : null,
    tokens: tokensOf(usage),
    mediaUnits: unitsOf(usage),
    estimated: usage.estimated,
    costNano: step.costNano,
    chargeNano: step.chargeNano,
    priceRef: step.priceRef,
    cached: null,
    freePool: step.shared === true,
    interrupted: false,
  }
}

/** A call bills one kind of unit. */
function unitsOf({ units = {} }: Usage): number {
  const { images, characters, seconds, pages, queries } = units
  return Math.ceil(images ?? characters ?? pages ?? queries ?? seconds ?? 0)
}

function tokensOf(usage: Usage): UsageTokens {
  return {
    input: usage.inputTotal,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    output: usage.outputTotal,
    reasoning: usage.reasoning ?? 0,
  }
}

/** Returns the row of a request that no upstream answered: from a cache, or failed. */
function unanswered(ctx: RequestContext, outcome: Outcome, asked: Attempt | null): UsageRow {
  const { principal } = ctx
  const target = asked?.candidate.target ?? ctx.plan?.targets[0]
  const { cachedCall } = outcome
  return {
    requestId: ctx.id,
    step: 0,
    orgId: principal.orgId,
    at: ctx.startedAt,
    keyId: principal.keyId,
    keyLabel: principal.label,
    userId: ctx.userId,
    sessionId: ctx.sessionId,
    costCenter: ctx.costCenter,
    source: outcome.cached === false ? ctx.source : 'cache',
    operation: ctx.operation,
    provider: cachedCall?.provider ?? asked?.candidate.connection.provider ?? target?.provider ?? null,
    connectionId: asked === null ? null : accountOf(asked.candidate),
    model: cachedCall?.model ?? target?.model ?? null,
    requestedModel: ctx.requestedModel,
    virtualModel: ctx.virtualModel,
    stream: ctx.stream,
    status: outcome.status,
    latencyMs: outcome.latencyMs,
    firstByteMs: outcome.firstByteMs,
    // Tokens of the original call for a cached answer; they are not billed again.
    tokens: cachedCall === undefined ? NO_TOKENS : tokensOf(cachedCall.usage),
    mediaUnits: cachedCall === undefined ? 0 : unitsOf(cachedCall.usage),
    estimated: cachedCall?.usage.estimated ?? false,
    costNano: 0,
    chargeNano: 0,
    priceRef: null,
    cached: outcome.cached === false ? null : outcome.cached,
    freePool: (asked?.candidate.target ?? target)?.shared !== undefined,
    interrupted: false,
  }
}

/** Returns what the request spent, in each measure. */
export function bookedOf({ steps, chargeNano }: Outcome): Booked {
  let tokens = 0
  for (const { shared, usage } of steps) if (shared === true) tokens += usage.inputTotal + usage.outputTotal
  return { charge: chargeNano ?? 0, shared_tokens: tokens }
}

export const NO_TOKENS = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

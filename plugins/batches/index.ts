// /v1/batches: requests that run later, with the key that submitted them. Their bodies and results are sealed and deleted after a week.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { batchObject, shown } from './batch-object.ts'
import { migrations } from './migrations.ts'
import { type BatchRequest, batchBody, batchRequest } from './request.ts'
import { type BatchRow, batchStore, type ItemRow, type Owner } from './store.ts'
import { batchWorker } from './worker.ts'

const DAY_MS = 86_400_000
/** Ended batches are kept for this time. */
const KEPT_MS = 7 * DAY_MS
const WORK_EVERY_MS = 1000

type Ctx = RequestContext<'batches'>

export const batches = definePlugin({
  name: 'batches',
  config: z.strictObject({
    /** Another process takes over items of a process that ended after this time. */
    leaseMs: z.int().min(100).max(3_600_000).default(60_000),
  }),
  migrations,
  setup(gateway, { leaseMs }) {
    const { clock, vault, db } = gateway
    const store = batchStore(db)
    const place = ({ batch_id, seq }: Pick<ItemRow, 'batch_id' | 'seq'>, orgId: number | null, what: 'body' | 'result') => ({
      orgId,
      table: 'batches_items',
      column: `${what}_sealed`,
      id: `${batch_id}/${seq}`,
    })
    const stopping = new AbortController()
    const worker = batchWorker({
      store,
      calls: gateway.use('ownCalls'),
      clock,
      log: gateway.log,
      owner: randomId('worker_'),
      leaseMs,
      signal: stopping.signal,
      batchOf: (id) => store.byId(id),
      open: (row, orgId) => vault.open(row.body_sealed, place(row, orgId, 'body')),
      seal: (row, orgId, result) => vault.seal(result, place(row, orgId, 'result')),
    })
    gateway.every('work', WORK_EVERY_MS, () => worker.work())
    gateway.every('prune', DAY_MS / 24, async () => store.prune(clock.now() - KEPT_MS), { once: true })

    const ownerOf = ({ principal }: Ctx): Owner => ({ orgId: principal.orgId ?? 0, keyId: principal.keyId })

    async function created(ctx: Ctx): Promise<Result> {
      const request = batchRequest(JSON.parse(decodeUtf8(ctx.rawBody as Uint8Array)) as JsonObject)
      refuseDisallowed(ctx, request)
      const now = clock.now()
      const { orgId, keyId } = ownerOf(ctx)
      const row: BatchRow = {
        id: randomId('batch_'),
        org_id: orgId,
        key_id: keyId,
        endpoint: request.endpoint,
        status: 'in_progress',
        metadata: request.metadata ? JSON.stringify(request.metadata) : null,
        total: request.items.length,
        created_at: now,
        started_at: now,
        cancelling_at: null,
        ended_at: null,
        expires_at: now + DAY_MS,
      }
      const sealed = await Promise.all(
        request.items.map(async ({ customId, url, body }, seq) => ({
          seq,
          customId,
          url,
          sealed: await vault.seal(JSON.stringify(body), place({ batch_id: row.id, seq }, ctx.principal.orgId, 'body')),
        })),
      )
      await store.create(row, sealed)
      void worker.work()
      return json(shown(row, { ok: 0, failed: 0 }))
    }

    async function listed(ctx: Ctx): Promise<Result> {
      const query = new URLSearchParams(ctx.ingress?.query ?? '')
      const limit = Number(query.get('limit') ?? 20)
      if (!Number.isInteger(limit) || limit < 1 || limit > 100)
        throw GatewayError.invalid('limit', '`limit` must be a whole number from 1 to 100.')
      const after = query.get('after') || null
      const from = after === null ? null : await store.find(ownerOf(ctx), after)
      // Without this, a client that pages would begin again at the first page.
      if (from === undefined) throw GatewayError.invalid('after', '`after` must be the id of a batch of this key.')
      const rows = await store.list(ownerOf(ctx), limit + 1, from)
      const page = rows.slice(0, limit)
      const counts = new Map((await store.counts(page.map(({ id }) => id))).map((count) => [count.batch_id, count]))
      const data = page.map((row) => shown(row, counts.get(row.id)))
      return json({
        object: 'list',
        data,
        has_more: rows.length > limit,
        first_id: page[0]?.id ?? null,
        last_id: page.at(-1)?.id ?? null,
      })
    }

    async function read(ctx: Ctx, id: string): Promise<Result> {
      const row = await found(ctx, id)
      const results = await Promise.all(
        (await store.results(id)).map(async ({ seq, custom_id, status_code, result_sealed }) => {
          const at = place({ batch_id: id, seq }, ctx.principal.orgId, 'result')
          const { request_id = null, body = null, error } = JSON.parse(await vault.open(result_sealed as string, at))
          if (error !== undefined) return { custom_id, response: null, error }
          return { custom_id, response: { status_code, request_id, body }, error: null }
        }),
      )
      const [counts] = await store.counts([id])
      return json({ ...shown(row, counts), results })
    }

    async function cancelled(ctx: Ctx, id: string): Promise<Result> {
      await found(ctx, id)
      await store.cancel(ownerOf(ctx), id, clock.now())
      await store.conclude(clock.now())
      return read(ctx, id)
    }

    /** @throws GatewayError 404, also for the batch of another key. */
    async function found(ctx: Ctx, id: string): Promise<BatchRow> {
      const row = await store.find(ownerOf(ctx), id)
      if (row !== undefined) return row
      throw new GatewayError(`There is no batch \`${id.slice(0, 64)}\`.`, {
        status: 404,
        type: 'invalid_request_error',
        code: 'batch_not_found',
        param: 'id',
      })
    }

    const route = { operation: 'batches', models: 'none', response: batchObject } as const
    gateway.data({
      ...route,
      method: 'POST',
      path: '/v1/batches',
      scope: 'rate',
      summary: 'Submits a batch.',
      body: batchBody,
      handler: created,
    })
    gateway.data({
      ...route,
      method: 'GET',
      path: '/v1/batches',
      scope: 'none',
      summary: 'Batches of this key, the newest first.',
      response: z.looseObject({ data: z.array(batchObject), has_more: z.boolean() }),
      handler: listed,
    })
    gateway.data({
      ...route,
      method: 'POST',
      path: '/v1/batches/*',
      template: '/v1/batches/{id}/cancel',
      accepts: (rest) => CANCEL.test(rest),
      scope: 'none',
      summary: 'Cancels a batch: `/v1/batches/{id}/cancel`. Running items finish; waiting items are dropped.',
      handler: (ctx) => cancelled(ctx, idIn(ctx).replace(/\/cancel$/, '')),
    })
    gateway.data({
      ...route,
      method: 'GET',
      path: '/v1/batches/*',
      accepts: (rest) => !rest.includes('/'),
      scope: 'none',
      summary: 'A batch with the results so far, in the order of the items.',
      handler: (ctx) => read(ctx, idIn(ctx)),
    })
    return () => {
      stopping.abort()
      return worker.idle()
    }
  },
})

const CANCEL = /^[^/]+\/cancel$/

/** Ids have no character that a client escapes. */
function idIn({ ingress }: Ctx): string {
  return ingress?.path.slice('/v1/batches/'.length) ?? ''
}

/** @throws GatewayError 403 naming the item: a batch is accepted whole or not at all. */
function refuseDisallowed({ principal: { allowedModels } }: Ctx, { items }: BatchRequest): void {
  if (allowedModels === null) return
  for (const { customId, model } of items)
    if (!allowedModels.some((glob) => globMatch(glob, model)))
      throw GatewayError.forbidden(
        `The item \`${customId}\` names the model \`${model.slice(0, 256)}\`, which this client key may not use. Nothing of the batch was accepted.`,
      )
}

function json(body: JsonObject): Result {
  const headers = ['content-type', 'application/json; charset=utf-8']
  return { kind: 'raw', status: 200, headers, body: encodeUtf8(JSON.stringify(body)) }
}

export default batches

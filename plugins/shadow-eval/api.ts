// /api/shadow: samples and their scores, without texts; an export and a deletion for administrators.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { readPayload } from './sample.ts'
import type { ScoreReader } from './scores.ts'
import { METHODS } from './service.ts'
import { dayOf, type Spending } from './spending.ts'
import { type ListedSample, placeOf, type SampleStore, type Selection, STATES } from './store.ts'
import type { Worker } from './worker.ts'

const MOST = 200
const EXPORTED_AT_ONCE = 100

const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
const selectionQuery = {
  key_id: whole.optional().describe('0: calls without a key.'),
  user_id: z.string().min(1).max(256).optional().describe('The caller’s own user, from `x-gateway-user-id`.'),
}
const usdOf = (nano: number | null): number | null => (nano === null ? null : nano / 1e9)

const sampleRecord = z.strictObject({
  id: z.int(),
  request_id: z.string(),
  at: z.string().describe('Start of the sampled request.'),
  key_id: z.int().nullable(),
  user_id: z.string().nullable(),
  virtual_model: z.string().nullable(),
  served_model: z.string(),
  challenger: z.string(),
  served_cost_usd: z.number(),
  challenger_cost_usd: z.number().nullable(),
  score_cost_usd: z.number().nullable().describe('Cost of the judge or of the embedder.'),
  state: z.enum(STATES),
  score: z.number().nullable().describe('0 to 1; 1: the cheaper model would have done.'),
  method: z
    .string()
    .nullable()
    .describe(`${METHODS.join(', ')}.`),
  confidence: z.enum(['normal', 'low']).nullable().describe('`low`: only words were compared.'),
  latency_ms: z.int().nullable(),
  error: z.string().nullable(),
  expires_at: z.string(),
})

export interface ShadowParts {
  readonly store: SampleStore
  readonly spending: Spending
  readonly scores: Pick<ScoreReader, 'pairs'>
  refresh(): Promise<void>
  readonly worker: Pick<Worker, 'stoppedUntil'>
  set(): { readonly enabled: boolean; readonly sampleRate: number }
}

export function shadowRoutes(
  gateway: Pick<PluginGateway, 'api' | 'clock' | 'vault'>,
  { store, spending, scores, worker, set, refresh }: ShadowParts,
): void {
  const { clock, vault } = gateway

  gateway.api({
    method: 'GET',
    path: '/api/shadow',
    summary: 'Shadow evaluation: how cheaper models would have answered, by pair of models, and the samples, newest first.',
    role: 'member',
    query: z.strictObject({
      ...selectionQuery,
      limit: whole.pipe(z.number().min(1, 'must be at least 1').max(MOST, `must be at most ${MOST}`)).default(50),
      cursor: whole.optional().describe('`next_cursor` of the page before.'),
    }),
    response: z.strictObject({
      enabled: z.boolean(),
      sample_rate: z.number(),
      today: z
        .strictObject({
          day: z.string().describe('Of UTC.'),
          cap_usd: z.number(),
          spent_usd: z.number(),
          reserved_usd: z.number(),
          stopped_until: z.string().nullable().describe('Set while the cap is reached.'),
        })
        .nullable()
        .describe('The cap is of the whole gateway: null in an organization.'),
      summary: z.array(
        z.strictObject({
          served_model: z.string(),
          challenger: z.string(),
          samples: z.int(),
          score: z.number(),
          compared_samples: z.int().describe('Without those of which only words were compared.'),
          compared_score: z.number().nullable(),
        }),
      ),
      data: z.array(sampleRecord),
      next_cursor: z.string().nullable(),
    }),
    async handler({ query: { limit, cursor, ...selected }, orgId }) {
      const now = clock.now()
      const found = await store.list(selectionOf(orgId, selected), now, limit + 1, cursor ?? null)
      const page = found.slice(0, limit)
      const pairs = await scores.pairs({ orgId, since: 0, until: Number.MAX_SAFE_INTEGER })
      const { enabled, sampleRate } = set()
      return {
        enabled,
        sample_rate: sampleRate,
        today: orgId === null ? await today(now) : null,
        summary: pairs.map(({ served, challenger, samples, score, compared }) => ({
          served_model: served,
          challenger,
          samples,
          score,
          compared_samples: compared?.samples ?? 0,
          compared_score: compared?.score ?? null,
        })),
        data: page.map(shown),
        next_cursor: found.length > limit ? String(page.at(-1)?.id) : null,
      }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/shadow/export',
    summary: 'Writes the samples, one JSON object a line; one that was not scored yet with its texts.',
    role: 'manage',
    query: z.strictObject(selectionQuery),
    handler({ query, orgId }) {
      const selection = selectionOf(orgId, query)
      let before: number | null = null
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const page = await store.whole(selection, clock.now(), EXPORTED_AT_ONCE, before)
          before = page.at(-1)?.id ?? null
          if (before === null) return controller.close()
          for (const one of page) {
            const line = { ...shown(one), content: await contentOf(orgId, one.request_id, one.payload_sealed) }
            controller.enqueue(encodeUtf8(`${JSON.stringify(line)}\n`))
          }
        },
      })
      return new Response(body, { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } })
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/shadow',
    summary: 'Deletes the samples and scores of a key or of a caller’s user, or with `all=true` of the organization.',
    role: 'manage',
    audit: 'shadow.delete',
    query: z.strictObject({ ...selectionQuery, all: z.enum(['true', 'false']).default('false') }),
    response: z.strictObject({ deleted: z.int() }),
    async handler({ query: { key_id, user_id, all }, orgId, audited }) {
      if ((key_id === undefined && user_id === undefined) === (all === 'false'))
        throw GatewayError.invalid('key_id', 'Give `key_id`, `user_id` or both, or `all=true`.')
      const deleted = await store.remove(selectionOf(orgId, { key_id, user_id }))
      await refresh()
      audited(key_id === undefined ? (user_id === undefined ? 'all' : 'user') : `key ${key_id}`, { deleted })
      return { deleted }
    },
  })

  async function today(now: number) {
    const { spentNano, reservedNano } = await spending.of(dayOf(now))
    const { stoppedUntil } = worker
    return {
      day: dayOf(now),
      cap_usd: spending.capNano / 1e9,
      spent_usd: spentNano / 1e9,
      reserved_usd: reservedNano / 1e9,
      stopped_until: stoppedUntil === 0 ? null : new Date(stoppedUntil).toISOString(),
    }
  }

  async function contentOf(orgId: number | null, requestId: string, sealed: string | null) {
    return sealed === null ? null : readPayload(await vault.open(sealed, placeOf(requestId, orgId)))
  }
}

function selectionOf(
  orgId: number | null,
  { key_id, user_id }: { key_id?: number | undefined; user_id?: string | undefined },
): Selection {
  return { orgId, keyId: key_id, userId: user_id }
}

function shown(sample: ListedSample): z.input<typeof sampleRecord> {
  return {
    id: sample.id,
    request_id: sample.request_id,
    at: new Date(sample.at).toISOString(),
    key_id: sample.key_id === 0 ? null : sample.key_id,
    user_id: sample.user_id,
    virtual_model: sample.virtual_model,
    served_model: sample.served_model,
    challenger: sample.challenger,
    served_cost_usd: sample.served_cost_nano / 1e9,
    challenger_cost_usd: usdOf(sample.challenger_cost_nano),
    score_cost_usd: usdOf(sample.score_cost_nano),
    state: sample.state,
    score: sample.score,
    method: sample.method,
    confidence: sample.method === null ? null : sample.method === 'token_f1' ? 'low' : 'normal',
    latency_ms: sample.latency_ms,
    error: sample.error,
    expires_at: new Date(sample.expires_at).toISOString(),
  }
}

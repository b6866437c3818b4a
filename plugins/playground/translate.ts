// POST /api/playground/translate: the canonical request, and how it is written in each dialect and for the account that would be asked.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { isForeign } from '../../core/records/request-record.ts'
import type { Encoding, ReadDraft } from '../../core/types/playground.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { BuiltInDialect, Dialect } from '../../core/types/request/canonical.ts'
import { body, DIALECTS, dialect, shown, shownOf } from './fields.ts'

const encoding = z.strictObject({
  dialect,
  request: shown
    .nullable()
    .describe('null: the dialect cannot express the request, or the provider answers without an upstream.'),
  losses: z.array(z.string()).describe('Fields that the target does not get: `dropped_<field>`.'),
  warnings: z.array(z.string()).describe('Changes that are made for the target.'),
  error: z
    .strictObject({ message: z.string(), param: z.string().nullable(), code: z.string().nullable() })
    .nullable()
    .describe('The reason why the dialect cannot express the request.'),
})

const answer = z.strictObject({
  canonical: z.record(z.string(), z.unknown()),
  targets: z.array(encoding),
  upstream: encoding
    .extend({
      provider: z.string(),
      model: z.string(),
      connection_id: z.int(),
      connection: z.string(),
      virtual_model: z.string().nullable(),
    })
    .nullable()
    .describe('For the account that would be asked first; null: the model is unknown, or no account is available.'),
})

export function translateRoute(gateway: PluginGateway): void {
  const translator = gateway.use('translator')
  const routes = gateway.optional('routePreview')

  gateway.api({
    method: 'POST',
    path: '/api/playground/translate',
    summary: 'Shows a request in every dialect. It calls no upstream, costs nothing and is not logged.',
    role: 'member',
    body: z.strictObject({ dialect, body, targets: z.array(dialect).max(DIALECTS.length).optional() }),
    response: answer,
    audit: false,
    async handler({ body: { dialect, body, targets = DIALECTS }, orgId }) {
      const draft = await translator.read({ dialect, body }, orgId)
      return {
        canonical: draft.request as unknown as Record<string, unknown>,
        targets: [...new Set<Dialect>(targets)].map((target) => encodingOf(draft.encoded(target))),
        upstream: await upstreamOf(draft, orgId),
      }
    },
  })

  async function upstreamOf(draft: ReadDraft, orgId: number | null): Promise<z.input<typeof answer>['upstream']> {
    let plan: Awaited<ReturnType<ReadDraft['plan']>>
    try {
      plan = await draft.plan()
    } catch (error) {
      if (GatewayError.is(error) && error.status < 500) return null
      throw error
    }
    const candidate = routes()?.first(orgId, plan, draft.request) ?? null
    // Another organization's connection is not shown.
    if (candidate === null || isForeign(candidate)) return null
    const { target, connection } = candidate
    return {
      ...encodingOf(draft.encodedFor(candidate)),
      provider: connection.provider,
      model: target.model,
      connection_id: Number(connection.id),
      connection: connection.label,
      virtual_model: plan.virtualModel,
    }
  }
}

const LOSS = /^dropped_/

function encodingOf({ dialect, request, warnings, error }: Encoding): z.input<typeof encoding> {
  return {
    // A dialect of a plugin is shown by its name.
    dialect: dialect as BuiltInDialect,
    request: request === null ? null : shownOf(request),
    losses: warnings.filter((slug) => LOSS.test(slug)),
    warnings: warnings.filter((slug) => !LOSS.test(slug)),
    error: error === null ? null : { message: error.message, param: error.param, code: error.code },
  }
}

// The data plane's model lists. They always need a client key, and its allow-list decides which models are listed.
import { type ZodType, z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { Entries, ModelEntry } from './entries.ts'
import { groupInfoOf, groupList, modelList, modelObject, modelObjectOf } from './model-object.ts'
import {
  anthropicList,
  anthropicListOf,
  anthropicModel,
  anthropicModelOf,
  googleList,
  googleListOf,
  googleModel,
  googleModelOf,
} from './vendor-lists.ts'

type Caller = Pick<RequestContext, 'principal' | 'headers' | 'ingress'>

interface ListRoute {
  path: string
  summary: string
  response: ZodType
  /** Gets the undecoded rest after a prefix. */
  accepts?(rest: string): boolean
  answer(ctx: Caller): unknown
}

export function modelRoutes(gateway: PluginGateway, entries: Entries): void {
  const route = ({ answer, ...rest }: ListRoute) =>
    gateway.data({
      method: 'GET',
      operation: 'models',
      models: 'none',
      scope: 'none',
      keyRequired: true,
      ...rest,
      handler: (ctx) => json(answer(ctx)),
    })
  const shownTo = (ctx: Caller) => entries.all(ctx.principal.orgId).filter(({ id }) => mayUse(ctx, id))
  const named = (ctx: Caller, prefix: string): ModelEntry => {
    const id = decoded((ctx.ingress?.path ?? '').slice(prefix.length))
    const found = id !== null && mayUse(ctx, id) ? entries.find(ctx.principal.orgId, id) : null
    if (found !== null) return found
    throw new GatewayError(`There is no model \`${(id ?? '').slice(0, 256)}\` here.`, {
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
    })
  }
  const fromAnthropic = (ctx: Caller) => ctx.headers.has('anthropic-version')

  route({
    path: '/v1/models',
    summary: 'Models this key may use; with an `anthropic-version` header in the shape of that API.',
    response: z.union([modelList, anthropicList]),
    answer: (ctx) =>
      fromAnthropic(ctx) ? anthropicListOf(shownTo(ctx)) : { object: 'list', data: shownTo(ctx).map(modelObjectOf) },
  })
  route({
    path: '/v1/models/image',
    summary: 'Models that make images, virtual ones with their targets.',
    response: modelList,
    answer: (ctx) => ({
      object: 'list',
      data: shownTo(ctx)
        .filter(({ facts }) => facts.mode === 'image_generation')
        .map(modelObjectOf),
    }),
  })
  route({
    path: '/v1/models/*',
    summary: 'One model, by its model string.',
    response: z.union([modelObject, anthropicModel]),
    answer(ctx) {
      const entry = named(ctx, '/v1/models/')
      return fromAnthropic(ctx) ? anthropicModelOf(entry) : modelObjectOf(entry)
    },
  })
  route({
    path: '/v1/model_group/info',
    summary: 'Window, ceiling, mode and `supports_*` flags of each model.',
    response: groupList,
    answer: (ctx) => ({ data: shownTo(ctx).map(groupInfoOf) }),
  })
  route({
    path: '/v1beta/models',
    summary: 'The same list in the shape of the Gemini API, without virtual models.',
    response: googleList,
    answer: (ctx) => googleListOf(shownTo(ctx).filter(({ targets }) => targets === null)),
  })
  route({
    path: '/v1beta/models/*',
    summary: 'One model in the shape of the Gemini API.',
    response: googleModel,
    // A verb follows a colon, and verbs are calls.
    accepts: (rest) => !rest.includes(':'),
    answer(ctx) {
      const entry = named(ctx, '/v1beta/models/')
      if (entry.targets === null) return googleModelOf(entry)
      throw GatewayError.modelNotFound(entry.id, 'Virtual models are not served on /v1beta.')
    },
  })
}

/** The allow-list is matched against the exact model string that a caller would send. */
function mayUse({ principal }: Caller, id: string): boolean {
  return principal.allowedModels?.some((glob) => globMatch(glob, id)) ?? true
}

/** Decodes once; null for a malformed escape. */
function decoded(rest: string): string | null {
  try {
    return decodeURIComponent(rest)
  } catch {
    return null
  }
}

function json(value: unknown): Result {
  const body = new TextEncoder().encode(JSON.stringify(value))
  return { kind: 'raw', status: 200, headers: ['content-type', 'application/json; charset=utf-8'], body }
}

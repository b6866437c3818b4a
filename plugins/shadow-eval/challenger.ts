// Finds the model that a sample is replayed on: the cheapest one that can serve the request and costs at most 60 % of the one that did.
import { estimateRequest } from '../../core/models/token-estimate.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext, Step, Target } from '../../core/types/request/context.ts'

/** Input and output price together, as a part of the served model's. */
const MOST = 0.6

type Facts = ReturnType<Services['modelFacts']['facts']>

export interface Challenger {
  readonly target: Target
  readonly maxOutputTokens: number | undefined
}

export interface Challengers {
  /** Returns null when no model is cheap enough, or a price is unknown. */
  of(ctx: RequestContext<'chat'>, served: Pick<Step, 'provider' | 'model' | 'shared'>): Challenger | null
}

/** @param allowed globs over `provider/model`; none: every model. */
export function challengersOf(gateway: PluginGateway, allowed: () => readonly string[]): Challengers {
  const facts = gateway.use('modelFacts')
  const catalogue = gateway.use('modelCatalogue')
  const virtualModels = gateway.use('virtualModels')
  const { providerId, provider: providerOf } = gateway.use('configuration')
  /** A provider that answers by itself, as `echo`, says nothing about a model. */
  const isLocal = (provider: string) => providerOf(provider)?.answer !== undefined

  /** A virtual model names the models that its requests may go to. Other requests may go to any model that their key may use. */
  function targetsOf({ virtualModel, principal }: RequestContext): readonly Target[] {
    const { orgId, allowedModels } = principal
    const model = virtualModel === null ? null : virtualModels.named(orgId, virtualModel)
    if (model !== null)
      return model.targets
        .filter(({ enabled }) => enabled)
        .map(({ provider, model: name, connectionId }) => ({
          provider: providerId(provider),
          model: name,
          connectionId: connectionId === null ? null : String(connectionId),
          weight: 1,
        }))
    return catalogue
      .offered(orgId)
      .all.filter(
        ({ provider, model: name }) =>
          !isLocal(provider) && (allowedModels?.some((glob) => globMatch(glob, `${provider}/${name}`)) ?? true),
      )
      .map(({ provider, model: name }) => ({ provider, model: name, connectionId: null, weight: 1 }))
  }

  return {
    of(ctx, served) {
      const { orgId } = ctx.principal
      // A shared connection is one of the gateway's own.
      const limit = priceOf(facts.facts(served.provider, served.model, served.shared === true ? null : orgId))
      if (limit === null) return null
      const globs = allowed()
      let best: { price: number; found: Challenger } | null = null
      let needs: Needs | null = null
      for (const target of targetsOf(ctx)) {
        if (globs.length > 0 && !globs.some((glob) => globMatch(glob, `${target.provider}/${target.model}`))) continue
        const known = facts.facts(target.provider, target.model, orgId)
        const price = priceOf(known)
        if (price === null || price > limit * MOST || (best !== null && price >= best.price)) continue
        needs ??= needsOf(ctx.request)
        if (serves(known, needs)) best = { price, found: { target, maxOutputTokens: known.maxOutputTokens } }
      }
      return best?.found ?? null
    },
  }
}

function priceOf({ price }: Facts): number | null {
  return price?.input === undefined || price.output === undefined ? null : price.input + price.output
}

interface Needs {
  readonly tools: boolean
  readonly schema: boolean
  readonly tokens: number
  readonly output: number
}

function needsOf(request: Frozen<CanonicalRequest>): Needs {
  return {
    tools: request.tools.length > 0 && request.toolChoice?.mode !== 'none',
    schema: request.output?.kind === 'json_schema',
    tokens: estimateRequest(request),
    output: request.maxTokens ?? 0,
  }
}

/** Unknown capabilities pass. */
function serves({ mode, capabilities, contextWindow }: Facts, needs: Needs): boolean {
  if (mode !== undefined && mode !== 'chat') return false
  if (needs.tools && capabilities.function_calling === false) return false
  if (needs.schema && capabilities.response_schema === false) return false
  return contextWindow === undefined || needs.tokens + needs.output <= contextWindow
}

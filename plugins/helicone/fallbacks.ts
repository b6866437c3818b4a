// `Helicone-Fallbacks`: additional targets after the requested one, each a model of a configured provider. Addresses and headers of an
// entry are ignored, because they would send prompts and credentials to a place that the caller chose.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { checkedModelId } from '../../core/models/model-id.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { Candidate, RequestContext, Target } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { ProviderAt } from './provider-hosts.ts'

export interface Fallback {
  readonly url: string
  readonly model: string
  /** Upstream statuses after which the next target is tried; null: the default ones. */
  readonly onCodes: readonly { readonly from: number; readonly to: number }[] | null
}

/** Fallback state of one request. */
export interface FallbackState {
  readonly fallbacks: readonly Fallback[] | null
  /** By index of the plan's targets: the statuses after which the next one is tried; null: the default ones. */
  codes: readonly Fallback['onCodes'][] | null
}

const MAX_ENTRIES = 16
const MAX_MODEL = 256
const NAME = 'Helicone-Fallbacks'

/** An entry with an invalid address or model counts as one without it. @throws GatewayError 400. */
export function readFallbacks(text: string | null): readonly Fallback[] | null {
  if (text === null) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw GatewayError.invalid(
      NAME,
      `\`${NAME}\` is not JSON: send an array of \`{"target-url", "bodyKeyOverride": {"model"}}\`.`,
    )
  }
  if (!Array.isArray(parsed)) throw GatewayError.invalid(NAME, `\`${NAME}\` must be a JSON array of objects.`)
  return parsed.slice(0, MAX_ENTRIES).map((entry: unknown) => {
    const url = member(entry, 'target-url')
    const model = member(member(entry, 'bodyKeyOverride'), 'model')
    return {
      url: typeof url === 'string' ? url : '',
      model: typeof model === 'string' && model !== '' && model.length <= MAX_MODEL ? checkedModelId(model, NAME) : '',
      onCodes: codesOf(member(entry, 'onCodes')),
    }
  })
}

export interface Failover {
  /** Adds the fallbacks to the plan. */
  extend(ctx: RequestContext): void
  /** Continues or ends the request according to the list's codes; reports which target answered. */
  attempt(ctx: RequestContext, candidate: Candidate, next: () => Promise<Result>): Promise<Result>
}

export function failover(providerAt: ProviderAt, askedBy: (ctx: RequestContext) => FallbackState): Failover {
  return {
    extend(ctx) {
      const asked = askedBy(ctx)
      const { plan } = ctx
      const fallbacks = asked.fallbacks ?? []
      if (plan === null || fallbacks.length === 0) return
      // A virtual model has its own list and strategy.
      if (plan.virtualModel !== null) return ctx.warn('fallback_ignored')
      const targets = [...plan.targets]
      const codes: Fallback['onCodes'][] = targets.map(() => fallbacks[0]?.onCodes ?? null)
      for (const fallback of fallbacks) {
        const target = targetOf(ctx, fallback, providerAt)
        if (target === null) {
          ctx.warn('fallback_ignored')
          continue
        }
        const known = targets.findIndex(({ provider, model }) => provider === target.provider && model === target.model)
        if (known !== -1) codes[known] = fallback.onCodes
        else {
          targets.push(target)
          codes.push(fallback.onCodes)
        }
      }
      ctx.plan = { ...plan, targets }
      asked.codes = codes
    },

    async attempt(ctx, candidate, next) {
      const index = ctx.plan?.targets.indexOf(candidate.target) ?? -1
      try {
        const result = await next()
        if (index !== -1) ctx.responseHeaders.set('helicone-fallback-index', String(index))
        return result
      } catch (error) {
        const codes = askedBy(ctx).codes?.[index] ?? null
        if (codes === null || !GatewayError.is(error) || error.skip !== null || !error.upstream?.status) throw error
        const { status } = error.upstream
        throw walking(error, codes.some(({ from, to }) => status >= from && status <= to) ? 'next_target' : 'return')
      }
    },
  }
}

function targetOf(ctx: RequestContext, { url, model: named }: Fallback, providerAt: ProviderAt): Target | null {
  const provider = providerAt(ctx, url)
  if (provider === null || named === '') return null
  const model = named.startsWith(`${provider}/`) ? named.slice(provider.length + 1) : named
  const { allowedModels } = ctx.principal
  if (allowedModels !== null && !allowedModels.some((glob) => globMatch(glob, `${provider}/${model}`))) return null
  return { provider, model, connectionId: null, weight: 1 }
}

function codesOf(value: unknown): Fallback['onCodes'] {
  if (!Array.isArray(value)) return null
  const ranges = value.flatMap((code: unknown) => {
    const from = typeof code === 'number' ? code : member(code, 'from')
    const to = typeof code === 'number' ? code : member(code, 'to')
    return typeof from === 'number' && typeof to === 'number' ? [{ from, to }] : []
  })
  return ranges.length === 0 ? null : ranges
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** Returns the same error with the caller's choice of the next step. */
function walking(error: GatewayError, walk: 'next_target' | 'return'): GatewayError {
  const { upstream } = error
  return error.with({ upstream: { ...(upstream as NonNullable<typeof upstream>), walk } })
}

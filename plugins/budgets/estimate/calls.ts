// Lists the upstream calls that a request can cause, by its virtual model's strategy: one of several, or all of them.
import { capsOf } from '../../../core/models/model-caps.ts'
import type { ConnectionService } from '../../../core/services.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { Provider } from '../../../core/types/ports/provider.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../../core/types/request/canonical.ts'
import type { RequestContext, Target } from '../../../core/types/request/context.ts'

export interface Call {
  readonly provider: string
  readonly model: string
  /** The organization whose connection serves it, and so the one whose prices apply; null: the gateway's own. */
  readonly orgId: number | null
  /** Tokens. */
  readonly input: number
  /** Output tokens of all choices. */
  readonly output: number
}

export interface Calls {
  readonly calls: readonly Call[]
  /** True: all calls are made; false: one of them answers. */
  readonly all: boolean
}

type VirtualModel = NonNullable<ReturnType<Services['virtualModels']['named']>>

/** Targets of virtual models. */
export interface CompiledModels {
  named(orgId: number | null, name: string): VirtualModel | null
  /** Returns the id of an id or alias. */
  providerId(provider: string): string
}

/** Returns the output tokens of one choice. @param cap `max_tokens` of the virtual model; null = it sets none. */
export type OutputOf = (target: Upstream & Pick<Target, 'shared'>, cap: number | null) => number

/** Tokens of the gateway's own prompt for a judge, or for a pipeline step without an instruction. */
const OWN_WORDS = 200
const PER_SOURCE = 16
/** Params of a target that may limit the answer, in the four dialects. */
const CAPS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'] as const

export function callsOf(
  ctx: RequestContext<'chat' | 'count_tokens'>,
  input: number,
  outputOf: OutputOf,
  compiledModels: CompiledModels,
): Calls {
  const request = ctx.request
  const choices = Math.max(1, Math.ceil(request.sampling.n ?? 1))
  const targets = ctx.plan?.targets ?? []
  const model = ctx.virtualModel === null ? null : compiledModels.named(ctx.principal.orgId, ctx.virtualModel)
  const single = (target: Upstream & Pick<Target, 'shared'>, extra = 0, times = choices): Call => ({
    provider: target.provider,
    model: target.model,
    orgId: payerOf(ctx, target),
    input: input + extra,
    output: outputOf(target, capOf(model, target.provider, target.model, compiledModels)) * times,
  })

  if (ctx.plan?.strategy === 'pipeline') {
    const said = Math.max(OWN_WORDS, ...(model?.targets ?? []).map(({ instruction }) => byteLength(instruction) / 2))
    let before = 0
    const calls = targets.map((target, index) => {
      const isLast = index === targets.length - 1
      const call = single(target, index === 0 ? 0 : before + Math.ceil(said), isLast ? choices : 1)
      before = call.output
      return call
    })
    return { calls, all: true }
  }
  if (ctx.plan?.strategy === 'fusion') {
    const judge = judgeOf(model, compiledModels) ?? targets[0]
    const offersTools = request.tools.length > 0 && request.toolChoice?.mode !== 'none'
    // With tools only one model answers, because a panel cannot call them.
    if (!offersTools && targets.length > 1 && judge !== undefined) {
      const panel = targets.map((target) => single(target, 0, 1))
      const heard = panel.reduce((sum, { output }) => sum + output + PER_SOURCE, OWN_WORDS)
      return { calls: [...panel, single(judge, heard)], all: true }
    }
    const asked = judge === undefined ? targets : [...targets, judge]
    return { calls: asked.map((target) => single(target)), all: false }
  }
  return { calls: targets.map((target) => single(target)), all: false }
}

/** A shared connection is one of the gateway's own. */
export function payerOf({ principal }: RequestContext, { shared }: Pick<Target, 'shared'>): number | null {
  return shared === undefined ? principal.orgId : null
}

/** A judge may have a price when no target has one. */
export function areSeveral({ plan }: RequestContext): boolean {
  return plan?.strategy === 'fusion' || plan?.strategy === 'pipeline'
}

function judgeOf(model: VirtualModel | null, compiledModels: CompiledModels): { provider: string; model: string } | null {
  const judge = model?.config.judge ?? null
  if (judge === null) return null
  const slash = judge.indexOf('/')
  return { provider: compiledModels.providerId(judge.slice(0, slash)), model: judge.slice(slash + 1) }
}

function capOf(model: VirtualModel | null, provider: string, name: string, compiledModels: CompiledModels): number | null {
  let most: number | null = null
  for (const target of model?.targets ?? []) {
    if (target.params === null || target.model !== name || compiledModels.providerId(target.provider) !== provider) continue
    const { params } = target
    const nested = params.generationConfig as Readonly<Record<string, unknown>> | undefined
    for (const cap of CAPS) {
      const said = params[cap] ?? params[`generationConfig.${cap}`] ?? nested?.[cap]
      if (typeof said === 'number') most = Math.max(most ?? 0, said)
    }
  }
  return most
}

function byteLength(text: string | null): number {
  return text === null ? 0 : encodeUtf8(text).length
}

// The dialects that the upstream call may use, when they change the output limit: another vendor may ignore the caller's limit or have a
// higher minimum.
export interface Upstream {
  readonly provider: string
  readonly model: string
}

export type DialectsOf = (ctx: RequestContext, request: Frozen<CanonicalRequest>, upstream: Upstream) => readonly Dialect[]

export function upstreamDialects(
  connections: () => Pick<ConnectionService, 'list' | 'shared'> | undefined,
  providerOf: (id: string) => Pick<Provider, 'id' | 'dialectFor' | 'caps'>,
): DialectsOf {
  return (ctx, request, { provider, model }) => {
    const found = providerOf(provider)
    const service = connections()
    const shared = ctx.plan?.targets.filter((one) => one.shared !== undefined && one.provider === provider && one.model === model)
    const list = shared?.length
      ? shared.flatMap(({ connectionId }) => service?.shared?.(connectionId ?? '') ?? [])
      : (service?.list(provider, model, ctx) ?? [])
    return list.map(
      (connection) =>
        connection.wireFormat ?? found.dialectFor(() => request, request.source, capsOf(found, connection, model), connection),
    )
  }
}

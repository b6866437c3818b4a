// Writes the metrics of the OpenTelemetry conventions for generative AI under their Prometheus names: client metrics for upstream calls,
// server metrics for the gateway's own requests.
import { GEN_AI_SECONDS, GEN_AI_TOKENS, providerName } from '../../core/models/gen-ai.ts'
import type { MetricsFactory } from '../../core/types/plugin/plugin.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import { OTHER_MODEL, type ShownNames } from './names.ts'

/** Maximum models with their own series. Callers choose model names, and some upstreams accept any name; further models are `other`. */
const MAX_MODELS = 200

export type GenAiRecorder = (ctx: RequestContext, outcome: Outcome) => void

export function genAiRecorder({ tally }: Pick<MetricsFactory, 'tally'>, names: ShownNames): GenAiRecorder {
  const call = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model']
  const tokens = tally('gen_ai_client_token_usage', 'Tokens of an upstream call.', [...call, 'gen_ai_token_type'], GEN_AI_TOKENS)
  const operation = tally(
    'gen_ai_client_operation_duration_seconds',
    'How long an upstream call took.',
    [...call, 'error_type'],
    GEN_AI_SECONDS,
  )
  const request = tally(
    'gen_ai_server_request_duration_seconds',
    'How long a request took.',
    ['gen_ai_operation_name', 'error_type'],
    GEN_AI_SECONDS,
  )
  const firstToken = tally(
    'gen_ai_server_time_to_first_token_seconds',
    'When the first byte of an answer went out.',
    ['gen_ai_operation_name'],
    GEN_AI_SECONDS,
  )
  const shown = shownModels()

  return (ctx, outcome) => {
    const name = ctx.operation
    const { orgId } = ctx.principal
    for (const { provider: by, model, usage, status, latencyMs } of outcome.steps) {
      const provider = names.provider(by, orgId)
      const label = shown(provider, names.model(model, orgId), status < 400)
      const vendor = providerName(provider)
      tokens.series(name, vendor, label, 'input').add(usage.inputTotal)
      tokens.series(name, vendor, label, 'output').add(usage.outputTotal)
      operation.series(name, vendor, label, errorType(status)).add(latencyMs / 1000)
    }
    // Failed calls that are not billed.
    for (const { candidate, skipped, error, status, latencyMs = 0 } of ctx.attempts) {
      if (skipped !== undefined || error === undefined) continue
      const provider = names.provider(candidate.connection.provider, orgId)
      const label = shown(provider, names.model(candidate.target.model, orgId), false)
      operation.series(name, providerName(provider), label, errorType(status ?? error.status)).add(latencyMs / 1000)
    }
    request.series(name, errorType(outcome.status)).add(outcome.latencyMs / 1000)
    if (outcome.firstByteMs !== null && outcome.status < 400) firstToken.series(name).add(outcome.firstByteMs / 1000)
  }
}

/** Returns '' without an error, which Prometheus treats as an absent label. */
function errorType(status: number): string {
  return status < 400 ? '' : String(status)
}

/** Returns a model's label: its id after an upstream has answered for it, up to the maximum. */
function shownModels(): (provider: string, model: string, answered: boolean) => string {
  const byProvider = new Map<string, Set<string>>()
  let count = 0
  return (provider, model, answered) => {
    let models = byProvider.get(provider)
    if (models?.has(model)) return model
    if (!answered || count >= MAX_MODELS) return OTHER_MODEL
    if (models === undefined) {
      models = new Set()
      byProvider.set(provider, models)
    }
    models.add(model)
    count++
    return model
  }
}

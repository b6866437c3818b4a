// Names of the OpenTelemetry GenAI conventions, and what of a request goes under them: never a prompt, an answer or a key.
import type { Attributes } from '@opentelemetry/api'
import { providerName } from '../../core/models/gen-ai.ts'
import type { Usage } from '../../core/types/answer.ts'
import type { Attempt, Outcome, RequestContext, Step } from '../../core/types/context.ts'

export function requestAttributes(ctx: RequestContext, outcome: Outcome): Attributes {
  const { principal } = ctx
  return {
    'gen_ai.operation.name': ctx.operation,
    'gen_ai.request.model': ctx.requestedModel,
    ...usageAttributes(outcome.usage),
    'http.request.method': ctx.ingress?.method,
    'url.path': ctx.ingress?.path,
    'http.response.status_code': outcome.status,
    'error.type': outcome.error === undefined ? undefined : (outcome.error.code ?? String(outcome.status)),
    'hookgate.request.id': ctx.id,
    'hookgate.dialect': ctx.dialect,
    'hookgate.source': ctx.source,
    'hookgate.stream': ctx.stream,
    'hookgate.virtual_model': ctx.virtualModel ?? undefined,
    'hookgate.key.id': principal.keyId ?? undefined,
    'hookgate.cost_center': ctx.costCenter ?? undefined,
    'hookgate.cached': outcome.cached === false ? undefined : outcome.cached,
    'hookgate.attempts': ctx.attempts.filter(({ skipped }) => skipped === undefined).length,
    'hookgate.cost_usd': outcome.costNano === null ? undefined : outcome.costNano / 1e9,
    'hookgate.time_to_first_byte_ms': outcome.firstByteMs ?? undefined,
  }
}

export function attemptAttributes({ candidate, status, error, role, action, usage }: Attempt, step: Step | null): Attributes {
  const { connection, target } = candidate
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(connection.provider),
    'gen_ai.request.model': target.model,
    ...(step === null && usage === undefined ? {} : usageAttributes(step?.usage ?? (usage as Usage))),
    'http.response.status_code': status,
    'error.type': error === undefined ? undefined : (error.code ?? String(error.status)),
    'hookgate.connection.id': connection.id,
    'hookgate.attempt.role': role,
    'hookgate.attempt.action': action,
    'hookgate.cost_usd': step === null || step.costNano === null ? undefined : step.costNano / 1e9,
  }
}

function usageAttributes({ inputTotal, outputTotal, cacheRead, cacheWrite }: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': inputTotal,
    'gen_ai.usage.output_tokens': outputTotal,
    'gen_ai.usage.cache_read.input_tokens': cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
  }
}

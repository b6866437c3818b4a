// Records the GenAI metrics: client metrics for upstream calls, server metrics for the gateway's own requests.
import type { Meter } from '@opentelemetry/api'
import { GEN_AI_SECONDS, GEN_AI_TOKENS, providerName } from '../../core/models/gen-ai.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'

export interface Instruments {
  record(ctx: RequestContext, outcome: Outcome): void
}

export function instruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: GEN_AI_SECONDS } })
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Tokens of upstream calls.',
    unit: '{token}',
    advice: { explicitBucketBoundaries: GEN_AI_TOKENS },
  })
  const operation = seconds('gen_ai.client.operation.duration', 'How long upstream calls took.')
  const request = seconds('gen_ai.server.request.duration', 'How long requests took.')
  const firstToken = seconds('gen_ai.server.time_to_first_token', 'When the first byte of an answer went out.')
  const cost = meter.createCounter('hookgate.cost', { description: 'Cost of upstream calls.', unit: 'USD' })
  return {
    record(ctx, outcome) {
      const named = { 'gen_ai.operation.name': ctx.operation }
      for (const step of outcome.steps) {
        const of = { ...named, 'gen_ai.provider.name': providerName(step.provider), 'gen_ai.request.model': step.model }
        tokens.record(step.usage.inputTotal, { ...of, 'gen_ai.token.type': 'input' })
        tokens.record(step.usage.outputTotal, { ...of, 'gen_ai.token.type': 'output' })
        operation.record(step.latencyMs / 1000, step.status < 400 ? of : { ...of, 'error.type': String(step.status) })
        if (step.costNano !== null) cost.add(step.costNano / 1e9, of)
      }
      // Without an upstream call the model name is the caller's text, so it does not become a label.
      const failed = outcome.status >= 400 ? { 'error.type': String(outcome.status) } : {}
      request.record(outcome.latencyMs / 1000, { ...named, ...failed })
      if (outcome.firstByteMs !== null && outcome.status < 400) firstToken.record(outcome.firstByteMs / 1000, named)
    },
  }
}

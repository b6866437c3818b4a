// Describes one request as spans: the request, each upstream call, each plugin's part. They are created at the end from the timeline.
import type { Attributes, Span } from '@opentelemetry/api'
import { providerName } from '../../core/models/gen-ai.ts'
import { accountOf } from '../../core/records/request-record.ts'
import type { HookRun } from '../../core/types/plugin/hook-tracer.ts'
import type { Usage } from '../../core/types/request/answer.ts'
import type { Attempt, Outcome, RequestContext, Step } from '../../core/types/request/context.ts'
import type { Sdk } from './sdk.ts'

export interface RequestTrace {
  /** Hook runs in order of execution. */
  readonly runs: HookRun[]
  end(ctx: RequestContext, outcome: Outcome): void
}

// Attributes of a request under their names in the OpenTelemetry GenAI conventions: never a prompt, an answer or a key.
function requestAttributes(ctx: RequestContext, outcome: Outcome): Attributes {
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

function attemptAttributes({ candidate, status, error, role, action, usage }: Attempt, step: Step | null): Attributes {
  const { connection, target } = candidate
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(connection.provider),
    'gen_ai.request.model': target.model,
    ...(step === null && usage === undefined ? {} : usageAttributes(step?.usage ?? (usage as Usage))),
    'http.response.status_code': status,
    'error.type': error === undefined ? undefined : (error.code ?? String(error.status)),
    'hookgate.connection.id': accountOf(candidate),
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

/** Returns null when the request is not traced. */
export function requestTrace(sdk: Sdk, ctx: RequestContext): RequestTrace | null {
  const { api, tracer } = sdk
  const kind = ctx.ingress === null ? api.SpanKind.INTERNAL : api.SpanKind.SERVER
  const parent = sdk.parentOf((name) => ctx.headers.get(name))
  const span = tracer.startSpan(ctx.operation, { kind, startTime: ctx.startedAt }, parent)
  if (!span.isRecording()) return null
  const runs: HookRun[] = []
  return {
    runs,
    end(ctx, outcome) {
      const within = api.trace.setSpan(api.ROOT_CONTEXT, span)
      const child = (name: string, kind: number, from: number, ms: number, fill: (span: Span) => void) => {
        const part = tracer.startSpan(name, { kind, startTime: from }, within)
        fill(part)
        part.end(from + Math.max(0, ms))
      }
      for (const attempt of ctx.attempts) {
        if (attempt.skipped !== undefined) span.addEvent('hookgate.skipped', skippedAttributes(attempt), attempt.startedAt)
        else
          child(
            `chat ${attempt.candidate.target.model}`,
            api.SpanKind.CLIENT,
            attempt.startedAt,
            attempt.latencyMs ?? 0,
            fillAttempt(attempt),
          )
      }
      for (const run of runs) {
        child(`${run.plugin} ${run.hook}`, api.SpanKind.INTERNAL, run.startedAt, run.ms, (part) => {
          part.setAttributes({ 'hookgate.plugin': run.plugin, 'hookgate.hook': run.hook })
          if (run.error !== undefined) part.setStatus({ code: api.SpanStatusCode.ERROR })
        })
      }
      if (outcome.firstByteMs !== null) span.addEvent('gen_ai.first_token', ctx.startedAt + outcome.firstByteMs)
      span.updateName(ctx.requestedModel === '' ? ctx.operation : `${ctx.operation} ${ctx.requestedModel}`)
      span.setAttributes(requestAttributes(ctx, outcome))
      if (outcome.status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end(ctx.startedAt + outcome.latencyMs)

      function fillAttempt(attempt: Attempt): (part: Span) => void {
        const { target } = attempt.candidate
        const step = outcome.steps.find(
          ({ connectionId, model, startedAt }) =>
            connectionId === accountOf(attempt.candidate) && model === target.model && startedAt === attempt.startedAt,
        )
        return (part) => {
          part.setAttributes(attemptAttributes(attempt, step ?? null))
          if (attempt.error !== undefined) part.setStatus({ code: api.SpanStatusCode.ERROR })
        }
      }
    },
  }
}

function skippedAttributes({ candidate, skipped }: Attempt): Record<string, string> {
  return {
    'hookgate.connection.id': accountOf(candidate),
    'gen_ai.request.model': candidate.target.model,
    'hookgate.skip.reason': skipped?.reason ?? '',
  }
}

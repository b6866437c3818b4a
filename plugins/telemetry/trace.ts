// One request as spans: itself, each upstream call, each plugin's part. Made when it is over, from what the timeline says.
import type { Span } from '@opentelemetry/api'
import type { HookRun } from '../../core/services.ts'
import type { Attempt, Outcome, RequestContext } from '../../core/types/context.ts'
import { attemptAttributes, requestAttributes } from './attributes.ts'
import type { Sdk } from './sdk.ts'

export interface RequestTrace {
  /** Hook runs in order of execution. */
  readonly runs: HookRun[]
  end(ctx: RequestContext, outcome: Outcome): void
}

/** null: the request is not to be traced. */
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
        const { connection, target } = attempt.candidate
        const step = outcome.steps.find(
          ({ connectionId, model, startedAt }) =>
            connectionId === connection.id && model === target.model && startedAt === attempt.startedAt,
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
    'hookgate.connection.id': candidate.connection.id,
    'gen_ai.request.model': candidate.target.model,
    'hookgate.skip.reason': skipped?.reason ?? '',
  }
}

// Builds the content of an alert: figures and names of one request, never its prompt or answer.
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'

export const FORMATS = ['generic', 'slack', 'discord'] as const
export type AlertFormat = (typeof FORMATS)[number]

export type AlertKind = 'server_error' | 'budget_rejected' | 'rate_limited'

const MAX_WORD = 120

/** Returns the kind for a server error, or for a budget or rate-limit rejection; null: no alert. */
export function alertKind({ status }: Outcome): AlertKind | null {
  if (status === 402) return 'budget_rejected'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : null
}

export function alertBody(format: AlertFormat, kind: AlertKind, ctx: RequestContext, outcome: Outcome, now: number): string {
  const last = ctx.candidate ?? ctx.attempts.at(-1)?.candidate
  const provider = last?.connection.provider ?? null
  const { status, error } = outcome
  const code = error?.code ?? null
  const asked = oneLine(ctx.virtualModel ?? ctx.requestedModel)
  const key = oneLine(ctx.principal.label ?? '')
  const text = `${kind}: ${status}${code === null ? '' : ` ${oneLine(code)}`} for ${asked}${provider === null ? '' : ` from ${provider}`}${key === '' ? '' : `, key ${key}`} (${ctx.id})`
  if (format === 'slack')
    return JSON.stringify({ text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') })
  // A zero-width space makes `@everyone` plain text.
  if (format === 'discord') return JSON.stringify({ content: text.replaceAll('@', '@\u200B') })
  return JSON.stringify({
    kind,
    text,
    request_id: ctx.id,
    occurred_at: new Date(now).toISOString(),
    status,
    code,
    provider,
    model: last?.target.model ?? ctx.requestedModel,
    virtual_model: ctx.virtualModel,
    api_key_id: ctx.principal.keyId,
    api_key_label: ctx.principal.label,
    latency_ms: Math.round(outcome.latencyMs),
  })
}

function oneLine(text: string): string {
  return text
    .slice(0, MAX_WORD)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
}

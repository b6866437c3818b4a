// Chat formats: one line of text for each event. Names come from people and vendors, so characters with a meaning in the chat are
// removed. No event contains prompts or answers.
import type { Envelope } from '../queue.ts'
import type { WebhookFormat } from '../service.ts'

type Data = Envelope['data']

const MAX_TEXT = 1000
const MAX_WORD = 120

/** Returns `{ text }` for Slack, `{ content }` for Discord. */
export function chatText(format: Exclude<WebhookFormat, 'standard'>, { type, data }: Envelope): string {
  const line = (SENTENCES[type] ?? (() => ''))(data)
  const text = oneLine(line === '' ? type : `${type}: ${line}`, MAX_TEXT)
  return JSON.stringify(format === 'slack' ? { text: plainForSlack(text) } : { content: plainForDiscord(text) })
}

/** In Slack, `<!channel>` and links use angle brackets. */
function plainForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A zero-width space makes `@everyone` plain text. */
function plainForDiscord(text: string): string {
  return text.replaceAll('@', '@\u200B')
}

function oneLine(text: string, max: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…`.toWellFormed() : line
}

function word(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1e6) / 1e6)
  return typeof value === 'string' ? oneLine(value, MAX_WORD) : ''
}

/** Returns the first non-empty value. */
const either = (...values: unknown[]): string => values.map(word).find((text) => text !== '') ?? '?'

const request = (data: Data): string => {
  const key = word(data.api_key_label)
  const model = either(data.virtual_model, data.model)
  return `${either(data.provider)} ${word(data.status)} for ${model}${key === '' ? '' : `, key ${key}`} (${word(data.request_id)})`
}

const budget = (data: Data): string =>
  `${word(data.scope)} ${either(data.entity_label, data.entity_id)}, ${word(data.window)}: ${word(data.spend_usd)} of ${word(data.limit_usd)} USD (${word(data.percent_used)} %)`

const account = (data: Data): string => `${either(data.provider)} account ${either(data.account_id)}`

const audited = (data: Data): string => `${word(data.action)} ${word(data.target)} by ${either(data.actor)}`

const SENTENCES: Readonly<Record<string, (data: Data) => string>> = {
  'request.failed': request,
  'request.rate_limited': request,
  'request.budget_rejected': request,
  'budget.threshold_crossed': budget,
  'budget.crossed': budget,
  'budget.projected_exceeded': budget,
  'provider.circuit_opened': (data) =>
    `${account(data)}, ${word(data.consecutive_failures)} failures in a row, until ${word(data.cooldown_until)}`,
  'provider.circuit_closed': (data) => `${account(data)}, open for ${word(Number(data.open_for_ms) / 1000)} s`,
  'account.cooldown_started': (data) => `${account(data)}, until ${word(data.cooldown_until)} (${word(data.source)})`,
  'account.quota_exhausted': account,
  'provider.outage': (data) =>
    `${either(data.provider)}, ${word(data.severity)}: ${word(data.error_count)} errors in ${word(data.window_seconds)} s`,
  'webhook.endpoint_auto_disabled': (data) => `${either(data.endpoint_id)}, failing since ${word(data.failing_since)}`,
  'report.weekly_digest': (data) => word(data.headline),
  'key.created': audited,
  'key.rotated': audited,
  'key.deleted': audited,
  'user.created': audited,
  'user.deleted': audited,
  'spend.tracked': (data) => `${word(data.count)} requests`,
  'webhook.test': (data) => word(data.message),
}

// The chat formats: one line of text, with nothing a chat would act on.
import { describe, expect, it } from 'vitest'
import { chatText } from '../../../plugins/webhooks/delivery/formats.ts'
import { EVENT_TYPES } from '../../../plugins/webhooks/events/catalog.ts'
import { envelopeOf } from '../../../plugins/webhooks/queue.ts'

const text = (type: string, data: Record<string, unknown>): string =>
  (JSON.parse(chatText('slack', envelopeOf({ type, orgId: null, data }, 0))) as { text: string }).text
const content = (type: string, data: Record<string, unknown>): string =>
  (JSON.parse(chatText('discord', envelopeOf({ type, orgId: null, data }, 0))) as { content: string }).content

const failed = { provider: 'openai', status: 503, model: 'gpt-x', virtual_model: '', api_key_label: 'ci', request_id: 'req_1' }

describe('a line', () => {
  it('says who, what and how much', () => {
    expect(text('request.failed', failed)).toBe('request.failed: openai 503 for gpt-x, key ci (req_1)')
    expect(text('request.failed', { ...failed, virtual_model: 'fast', api_key_label: '' })).toBe(
      'request.failed: openai 503 for fast (req_1)',
    )
    const budget = {
      scope: 'key',
      entity_id: 3,
      entity_label: 'ci',
      window: 'daily',
      spend_usd: 8.6,
      limit_usd: 10,
      percent_used: 86,
    }
    expect(text('budget.threshold_crossed', budget)).toBe('budget.threshold_crossed: key ci, daily: 8.6 of 10 USD (86 %)')
    const outage = { provider: 'acme', severity: 'major', error_count: 12, window_seconds: 60 }
    expect(text('provider.outage', outage)).toBe('provider.outage: acme, major: 12 errors in 60 s')
  })

  it('is there for every event, also when its data are not what they should be', () => {
    for (const type of [...EVENT_TYPES, 'webhook.test', 'something.else']) {
      for (const data of [{}, { provider: null, headline: 7, target: {}, spend_usd: 'x' }]) {
        expect(text(type, data), type).toMatch(new RegExp(`^${type.replace('.', '\\.')}`))
        expect(Object.keys(JSON.parse(chatText('slack', envelopeOf({ type, orgId: null, data }, 0))))).toEqual(['text'])
        expect(Object.keys(JSON.parse(chatText('discord', envelopeOf({ type, orgId: null, data }, 0))))).toEqual(['content'])
      }
    }
  })

  it('is one line and not endless, whatever the names in it', () => {
    const label = `a\nb\r\nc\u2028d\u0000e${'x'.repeat(5000)}`
    const line = text('request.failed', { ...failed, api_key_label: label, model: label })
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(line.length).toBeLessThan(500)
    expect(line.isWellFormed()).toBe(true)
    expect(text('request.failed', { ...failed, model: `${'a'.repeat(118)}😀😀` }).isWellFormed()).toBe(true)
  })

  it('calls nobody: no link, no channel, no everyone', () => {
    const label = '<!channel> <https://evil.test|here> & @everyone'
    const slack = text('request.failed', { ...failed, api_key_label: label })
    expect(slack).not.toMatch(/<|>/)
    expect(slack).toContain('&lt;!channel&gt;')
    expect(content('request.failed', { ...failed, api_key_label: label })).not.toContain('@everyone')
  })
})

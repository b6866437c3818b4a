// `guardrails` of /api/settings: all members with their defaults, and the errors for invalid ones.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { expectWithin, timed } from '../../support/in-time.ts'
import { change } from './support.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function gateway(): Promise<TestGateway> {
  const t = await createTestGateway()
  open.push(t)
  return t
}

const shown = async (t: TestGateway) => ((await (await t.fetch('/api/settings')).json()) as { guardrails: unknown }).guardrails

describe('guardrails in the settings', () => {
  it('are shown with every default', async () => {
    expect(await shown(await gateway())).toEqual({
      enabled: false,
      tokens: { mode: 'auto' },
      prompt_injection: { mode: 'off', threshold: 0.7, scan_tool_results: true },
      pii: {
        mode: 'off',
        entities: ['email', 'phone', 'credit_card', 'us_ssn', 'iban', 'ip'],
        input: true,
        output: false,
        restore: false,
      },
      secrets: { mode: 'off', input: true, output: true },
      topics: { mode: 'off', deny: [], input: true, output: true },
      keywords: { mode: 'off', deny: [], regex: [], case_sensitive: false, input: true, output: true },
    })
  })

  it('are merged, nested or by dotted key, and null takes back', async () => {
    const t = await gateway()
    expect(
      (
        await change(t, {
          guardrails: { pii: { mode: 'redact' } },
          'guardrails.topics.deny': ['war', { name: 'm', keywords: ['x'] }],
        })
      ).status,
    ).toBe(200)
    expect(await shown(t)).toMatchObject({
      pii: { mode: 'redact', input: true },
      topics: { deny: ['war', { name: 'm', keywords: ['x'], min_hits: 2 }] },
    })
    expect((await change(t, { guardrails: { pii: { mode: null } } })).status).toBe(200)
    expect(await shown(t)).toMatchObject({ pii: { mode: 'off' } })
  })

  it.each([
    ['an unknown member', { guardrails: { pii: { modus: 'off' } } }, 'guardrails.pii.modus'],
    ['an unknown mode', { 'guardrails.pii.mode': 'mask' }, 'guardrails.pii.mode'],
    ['redact where nothing can be redacted', { 'guardrails.topics.mode': 'redact' }, 'guardrails.topics.mode'],
    ['redact of prompt injection', { 'guardrails.prompt_injection.mode': 'redact' }, 'guardrails.prompt_injection.mode'],
    ['a threshold above one', { 'guardrails.prompt_injection.threshold': 2 }, 'guardrails.prompt_injection.threshold'],
    ['an unknown kind', { 'guardrails.pii.entities': ['email', 'passport'] }, 'guardrails.pii.entities.1'],
    ['a wrong expression', { 'guardrails.keywords.regex': ['ok', '(unclosed'] }, 'guardrails.keywords.regex.1'],
    ['one that RE2 does not know', { 'guardrails.keywords.regex': ['(?<=a)b'] }, 'guardrails.keywords.regex.0'],
    ['one that looks back', { 'guardrails.keywords.regex': ['(a)\\1'] }, 'guardrails.keywords.regex.0'],
    ['one that matches nothing at all', { 'guardrails.keywords.regex': ['x*'] }, 'guardrails.keywords.regex.0'],
    ['one that is too long', { 'guardrails.keywords.regex': ['x'.repeat(257)] }, 'guardrails.keywords.regex.0'],
    ['one that is too large', { 'guardrails.keywords.regex': ['((a{30}){30}){2}b'] }, 'guardrails.keywords.regex.0'],
    ['an empty keyword', { 'guardrails.keywords.deny': [' '] }, 'guardrails.keywords.deny.0'],
    ['a topic without words', { 'guardrails.topics.deny': [{ name: 'x', keywords: [] }] }, 'guardrails.topics.deny.0.keywords'],
    ['a switch that is no boolean', { 'guardrails.enabled': 'yes' }, 'guardrails.enabled'],
  ])('refuse %s', async (_name, body, param) => {
    const t = await gateway()
    const { status, error } = await change(t, body)
    expect(status).toBe(400)
    expect(error.param).toBe(param)
  })

  it('an expression that would never end elsewhere ends here', async () => {
    const t = await gateway()
    await change(t, { guardrails: { enabled: true, keywords: { mode: 'block', regex: ['^(a+)+$', '(.*a){6}x'] } } })
    const messages = [{ role: 'user', content: `${'a'.repeat(30_000)}!` }]
    const asked = async () => expect((await t.post('/v1/chat/completions', { model: 'chat/m', messages })).status).toBe(200)
    await expectWithin(5000, () => timed(asked))
  })

  it('in the file, where a wrong one stops the boot and is named', async () => {
    const config = { settings: { guardrails: { keywords: { regex: ['('] } } } }
    await expect(createTestGateway({ config })).rejects.toThrow('guardrails.keywords.regex')
  })
})

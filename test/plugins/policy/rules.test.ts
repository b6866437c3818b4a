import { describe, expect, it } from 'vitest'
import { policyOf } from '../../../plugins/policy/rules.ts'

describe('on the cloud profile', () => {
  it('getting through says nothing of the terms, a refusal does; other providers are restricted, too', () => {
    const row = { provider_id: 'anthropic', mode: 'auto', reason: null, observed_at: 1 } as const
    expect(policyOf('anthropic', { ...row, verdict: 'ok' }, 'cloud')).toMatchObject({ verdict: 'restricted', source: 'builtin' })
    expect(policyOf('anthropic', { ...row, verdict: 'restricted' }, 'cloud')).toMatchObject({ source: 'observed' })
    expect(policyOf('acme', undefined, 'cloud')).toMatchObject({ verdict: 'restricted', effective: 'blocked' })
  })
})

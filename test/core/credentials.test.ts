// Credentials that a provider renews.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { renewedCredentials } from '../../core/credentials.ts'

describe('renewed credentials', () => {
  const made = () => {
    const clock = fakeClock()
    let loads = 0
    const tokens = renewedCredentials({ clock, load: async () => ({ value: `t${++loads}`, expiresAt: clock.now() + 300_000 }) })
    return { clock, tokens, loads: () => loads }
  }

  it('are returned without a promise while they are valid', async () => {
    const { tokens } = made()
    expect(await tokens.of('s')).toBe('t1')
    expect(tokens.of('s')).toBe('t1')
  })

  it('are renewed early, while the old value serves', async () => {
    const { clock, tokens, loads } = made()
    await tokens.of('s')
    await clock.advance(250_000)
    expect(tokens.of('s')).toBe('t1')
    await expect.poll(loads).toBe(2)
    expect(tokens.of('s')).toBe('t2')
  })

  it('are loaded again after a refusal, unless they are young', async () => {
    const { clock, tokens } = made()
    await tokens.of('s')
    tokens.refused('s')
    expect(tokens.of('s')).toBe('t1')
    await clock.advance(11_000)
    tokens.refused('s')
    expect(await tokens.of('s')).toBe('t2')
  })

  it('do not keep a failure', async () => {
    let fails = true
    const tokens = renewedCredentials({
      clock: fakeClock(),
      load: async () => {
        if (fails) throw new Error('secret words')
        return { value: 'ok', expiresAt: Number.POSITIVE_INFINITY }
      },
    })
    await expect(tokens.of('s')).rejects.toThrow('The credential of this connection could not be renewed.')
    fails = false
    expect(await tokens.of('s')).toBe('ok')
  })
})

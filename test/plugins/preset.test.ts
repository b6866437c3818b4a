// preset(): the plugins that can be left out, and misspelled options.
import { describe, expect, it } from 'vitest'
import { type PresetOptions, preset } from '../../plugins/preset.ts'

const names = (options?: PresetOptions) => preset(options).map(({ name }) => name)

describe('preset', () => {
  it('leaves out what is false, and what cannot be without it', () => {
    expect(names()).toEqual(expect.arrayContaining(['metrics', 'ledger', 'budgets', 'savings']))
    const without = names({ metrics: false, ledger: false })
    for (const name of ['metrics', 'ledger', 'usage', 'budgets', 'savings']) expect(without).not.toContain(name)
  })

  it('an option that is none is refused by name: a guardrail is not on or off by a slip', () => {
    expect(() => preset({ guardrail: false } as PresetOptions)).toThrow(/no option `guardrail`.*guardrails/)
  })

  it('what nothing runs without cannot be left out', () => {
    expect(() => preset({ keys: false } as unknown as PresetOptions)).toThrow('`keys` cannot be left out')
  })
})

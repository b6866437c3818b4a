import { describe, expect, it } from 'vitest'
import { geminiCaps } from '../../../../adapters/providers/caps/gemini.ts'

describe('geminiCaps', () => {
  it('gives Gemini 3 levels, signatures, call ids, media in results and JSON beside tools', () => {
    expect(geminiCaps('gemini-3-flash')).toMatchObject({
      family: 'gemini',
      thinkingControl: 'level',
      efforts: ['minimal', 'low', 'medium', 'high'],
      thoughtSignature: true,
      functionCallIds: true,
      fnPartsInResults: true,
      jsonWithTools: true,
      jsonSchema: true,
      systemInstruction: true,
    })
    expect(geminiCaps('gemini-3.1-pro-preview').efforts).toEqual(['low', 'medium', 'high'])
  })

  it('gives 2.5 a thinking budget and JSON Schema, and nothing of 3', () => {
    const flash = geminiCaps('gemini-2.5-flash')
    expect(flash).toMatchObject({ thinkingControl: 'budget', jsonSchema: true, thoughtSignature: false, functionCallIds: false })
    expect(flash).toMatchObject({ jsonWithTools: false, fnPartsInResults: false })
    expect(flash.efforts).toContain('none')
    expect(geminiCaps('gemini-2.5-pro').efforts).not.toContain('none')
    expect(geminiCaps('gemini-2.5-flash-image').thinkingControl).toBe('none')
  })

  it('gives 2.0 and 1.5 neither thinking nor JSON Schema', () => {
    for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro-002', 'models/gemini-2.0-flash-001']) {
      expect(geminiCaps(model)).toMatchObject({ thinkingControl: 'none', jsonSchema: false, thoughtSignature: false })
    }
  })

  it('knows that gemma has no system instruction', () => {
    expect(geminiCaps('gemma-3-27b-it')).toMatchObject({ systemInstruction: false, thinkingControl: 'none', jsonSchema: false })
  })

  it('lets an unknown newer id inherit the newest, and an unknown family nothing', () => {
    expect(geminiCaps('gemini-7-ultra')).toEqual(geminiCaps('gemini-3-flash'))
    expect(geminiCaps('gemini-flash-latest')).toEqual(geminiCaps('gemini-3-flash'))
    expect(geminiCaps('somebody-elses-model')).toEqual({ family: 'gemini' })
  })
})

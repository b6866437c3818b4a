// The same models as the SDKs of Anthropic and Google read them. One page: they follow cursors only when there is one.
import { z } from 'zod'
import type { ModelEntry } from './entries.ts'

export const anthropicModel = z.strictObject({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.int().nullable(),
})

export const anthropicList = z.strictObject({
  data: z.array(anthropicModel),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
})

export const googleModel = z.strictObject({
  name: z.string().describe('Goes into the path of a call as it is: `models/<model string>`.'),
  displayName: z.string(),
  inputTokenLimit: z.int().optional(),
  outputTokenLimit: z.int().optional(),
  supportedGenerationMethods: z.array(z.string()),
})

export const googleList = z.strictObject({ models: z.array(googleModel) })

export function anthropicModelOf({ id, createdAt, facts }: ModelEntry): z.input<typeof anthropicModel> {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAt).toISOString(),
    max_input_tokens: facts.contextWindow ?? null,
    max_tokens: facts.maxOutputTokens ?? null,
  }
}

export function anthropicListOf(entries: readonly ModelEntry[]): z.input<typeof anthropicList> {
  return {
    data: entries.map(anthropicModelOf),
    has_more: false,
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
  }
}

export function googleModelOf({ id, facts }: ModelEntry): z.input<typeof googleModel> {
  const { contextWindow, maxOutputTokens, mode } = facts
  return {
    name: `models/${id}`,
    displayName: id,
    ...(contextWindow ? { inputTokenLimit: contextWindow } : {}),
    ...(maxOutputTokens ? { outputTokenLimit: maxOutputTokens } : {}),
    supportedGenerationMethods: mode === 'chat' ? ['generateContent', 'streamGenerateContent'] : [],
  }
}

export function googleListOf(entries: readonly ModelEntry[]): z.input<typeof googleList> {
  return { models: entries.map(googleModelOf) }
}

// The wire objects of completions: the chunks of a stream, and the usage.

import type { CompletionsAnswer } from '../../../core/types/operations/operations.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'

export const DONE = 'data: [DONE]\n\n'

type Head = Pick<CompletionsAnswer, 'id' | 'created' | 'model'>

export function chunk(
  { id, created, model }: Frozen<Head>,
  { index, text, finish, logprobs }: Frozen<CompletionsAnswer['choices'][number]>,
): string {
  const choices = [{ text, index, logprobs, finish_reason: finish }]
  return `data: ${JSON.stringify({ id, object: 'text_completion', created, model, choices })}\n\n`
}

export function usageChunk({ id, created, model }: Frozen<Head>, usage: Frozen<Usage>): string {
  return `data: ${JSON.stringify({ id, object: 'text_completion', created, model, choices: [], usage: usageObject(usage) })}\n\n`
}

export function usageObject({ inputTotal, outputTotal, total }: Frozen<Usage>): JsonObject {
  return { prompt_tokens: inputTotal, completion_tokens: outputTotal, total_tokens: total }
}

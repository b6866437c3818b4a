// Reasoning as this dialect has it: one text. Other dialects keep a list of summaries.
import type { Frozen, ReasoningPart } from '../../../../core/types/canonical.ts'

export function thinkingText(part: Frozen<ReasoningPart>): string {
  return part.text !== '' ? part.text : (part.summary ?? []).filter((line) => line !== '').join('\n\n')
}

import type { Frozen, JsonObject, Part, ReasoningPart } from '../../../../core/types/request/canonical.ts'
import { others } from '../../shared/fields.ts'

/** A content block, tool or other wire object. Its tool arguments are RawJson, so use `stringify`. */
export type Block = Record<string, unknown>

// Returns reasoning as this dialect has it: one text. Other dialects keep a list of summaries.
export function thinkingText(part: Frozen<ReasoningPart>): string {
  return part.text !== '' ? part.text : (part.summary ?? []).filter((line) => line !== '').join('\n\n')
}

// Keeps unknown members of a block on the part, for this dialect's own encoder.
export function withExt<T extends Part>(part: T, block: JsonObject, known: ReadonlySet<string>): T {
  const rest = others(block, known)
  if (rest !== null) part.ext = { messages: rest }
  return part
}

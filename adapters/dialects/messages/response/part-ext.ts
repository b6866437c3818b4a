// Unknown members of a block, kept on the part for this dialect's own encoder.
import type { JsonObject, Part } from '../../../../core/types/canonical.ts'
import { others } from '../../shared/fields.ts'

export function withExt<T extends Part>(part: T, block: JsonObject, known: ReadonlySet<string>): T {
  const rest = others(block, known)
  if (rest !== null) part.ext = { messages: rest }
  return part
}

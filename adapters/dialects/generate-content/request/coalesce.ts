// Joins model turns as clients replay them: streamed increments arrive as many parts, often as many contents. Adjacent text or thought
// pieces become one part again. A signature ends its part, and an empty piece carries the signature of the previous one.
import type { Message, Part } from '../../../../core/types/request/canonical.ts'

/** Merges adjacent assistant messages into one and joins their pieces. */
export function appendModelTurn(out: Message[], parts: Part[]): void {
  if (parts.length === 0) return
  const last = out.at(-1)
  const message: Message = last?.role === 'assistant' ? last : { role: 'assistant', parts: [] }
  if (message !== last) out.push(message)
  for (const part of parts) {
    const before = message.parts.at(-1)
    const joined = before === undefined ? null : join(before, part)
    if (joined === null) message.parts.push(part)
    else message.parts[message.parts.length - 1] = joined
  }
}

function join(before: Part, part: Part): Part | null {
  if (before.ext !== undefined || part.ext !== undefined) return null
  if (before.t === 'text' && part.t === 'text' && before.signature === undefined) {
    return { ...before, ...part, text: before.text + part.text }
  }
  if (before.t !== 'reasoning' || part.t !== 'reasoning') return null
  if (before.signature !== undefined || before.encrypted !== undefined || before.redacted !== undefined) return null
  // A redacted block has no text: it never continues the thought before it.
  return part.redacted === undefined ? { ...before, ...part, text: before.text + part.text } : null
}

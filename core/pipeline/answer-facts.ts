// The facts that the pump gathers from a stream, for an answer in one piece.
import { isReported } from '../models/token-estimate.ts'
import { byteLength } from '../text/bytes.ts'
import type { CanonicalResponse, Usage } from '../types/answer.ts'
import type { Frozen } from '../types/canonical.ts'
import type { StreamFacts } from '../types/stream.ts'

/** The content is measured only where an estimate will have to be made from it. */
export function answerFacts(response: Frozen<CanonicalResponse>): StreamFacts {
  const usage = response.usage as Usage
  return {
    content: true,
    contentBytes: isReported(usage) ? 0 : contentBytes(response),
    terminal: true,
    usage,
    finish: response.choices[0]?.finish ?? null,
    error: null,
  }
}

/** UTF-8 bytes of what a caller sees of an answer: text, reasoning, refusals, arguments. */
function contentBytes(response: Frozen<CanonicalResponse>): number {
  let bytes = 0
  for (const { parts } of response.choices) {
    for (const part of parts) {
      if (part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal') bytes += byteLength(part.text)
      else if (part.t === 'tool_call') bytes += byteLength(part.args)
    }
  }
  return bytes
}

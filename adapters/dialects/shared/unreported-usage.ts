// Estimates usage that no upstream reported: a caller whose dialect needs counts gets a marked estimate, never zeros.
import { estimateUsage } from '../../../core/models/token-estimate.ts'
import { byteLength } from '../../../core/text/bytes.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Part } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'

/** An explicit zero is a report. */
export function isUnreported(usage: Frozen<Partial<Usage>> | null): boolean {
  if (usage === null) return true
  if (usage.inputTotal === undefined && usage.outputTotal === undefined) return true
  return usage.estimated === true && !usage.inputTotal && !usage.outputTotal
}

/** Returns the report, or an estimate with the warning `estimated_tokens`. */
export function usageOrEstimate<U extends Frozen<Partial<Usage>>>(
  usage: U | null,
  parts: Iterable<Frozen<Part>>,
  codec: CodecContext,
): U | Usage {
  if (usage !== null && !isUnreported(usage)) return usage
  codec.warn('estimated_tokens')
  let bytes = 0
  for (const part of parts) bytes += contentBytes(part)
  return estimateUsage(codec.request, bytes)
}

function contentBytes(part: Frozen<Part>): number {
  if (part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal') return byteLength(part.text)
  return part.t === 'tool_call' ? byteLength(part.args) : 0
}

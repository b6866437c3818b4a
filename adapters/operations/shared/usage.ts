// Makes the usage of operations: tokens that a vendor reports, or an estimate of the input, and units that are billed.

import { tokenCount } from '../../../core/models/token-count.ts'
import { estimateText } from '../../../core/models/token-estimate.ts'
import type { MediaUnits, Usage } from '../../../core/types/request/answer.ts'
import type { Json } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'

interface Counts {
  input?: number | undefined
  output?: number | undefined
  units?: MediaUnits
  raw?: Json
  estimated?: boolean
}

export function usageOf({ input = 0, output = 0, units, raw = null, estimated = false }: Counts): Usage {
  // Written out: a spread followed by members gives every object its own hidden class, and each later read of it is slow.
  const usage: Usage = {
    inputTotal: input,
    cacheRead: 0,
    cacheWrite: 0,
    outputTotal: output,
    total: input + output,
    estimated,
    raw,
  }
  if (units !== undefined) usage.units = units
  return usage
}

/** Returns the tokens of texts when the vendor reports none. */
export function estimatedUsage(texts: readonly string[], units?: MediaUnits): Usage {
  const input = Math.ceil(texts.reduce((sum, text) => sum + estimateText(text), 0))
  return usageOf({ input, estimated: true, ...(units === undefined ? {} : { units }) })
}

/** Returns the usage in OpenAI's spellings (`prompt_tokens`, `input_tokens`, `total_tokens`); null when there is none. */
export function reportedUsage(wire: Json | undefined, units?: MediaUnits): Usage | null {
  if (!isObject(wire)) return null
  const input = tokenCount(wire.prompt_tokens ?? wire.input_tokens)
  const output = tokenCount(wire.completion_tokens ?? wire.output_tokens)
  const total = tokenCount(wire.total_tokens)
  if (input === undefined && output === undefined && total === undefined) return null
  const known = input ?? Math.max((total ?? 0) - (output ?? 0), 0)
  return usageOf(units === undefined ? { input: known, output, raw: wire } : { input: known, output, raw: wire, units })
}

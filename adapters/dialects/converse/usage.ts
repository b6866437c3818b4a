// Converts token counts. Bedrock's `inputTokens` excludes the cache; `totalTokens` shows it where a model counts otherwise.
import { tokenCount } from '../../../core/models/token-count.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Json } from '../../../core/types/request/canonical.ts'
import { isObject } from '../shared/fields.ts'

/** Returns null when the upstream reported none, or only impossible counts. */
export function decodeUsage(raw: Json | undefined): Usage | null {
  if (!isObject(raw)) return null
  const [input, output] = [tokenCount(raw.inputTokens), tokenCount(raw.outputTokens)]
  if (input === undefined && output === undefined) return null
  const cacheRead = tokenCount(raw.cacheReadInputTokens) ?? 0
  const cacheWrite = tokenCount(raw.cacheWriteInputTokens) ?? 0
  const total = tokenCount(raw.totalTokens)
  const bare = (input ?? 0) + (output ?? 0)
  const includesCache =
    total !== undefined && total === bare && (input ?? 0) >= cacheRead + cacheWrite && cacheRead + cacheWrite > 0
  const inputTotal = (input ?? 0) + (includesCache ? 0 : cacheRead + cacheWrite)
  const outputTotal = output ?? 0
  return { inputTotal, cacheRead, cacheWrite, outputTotal, total: inputTotal + outputTotal, estimated: false, raw }
}

// Converts usageMetadata to canonical usage and back. Canonical totals are inclusive. Google's prompt includes the cache, its candidates
// exclude the thoughts, and tool-use prompts are counted separately.
import { tokenCount } from '../../../core/models/token-count.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, listField } from './fields.ts'

const COUNTERS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount',
] as const

/** Returns null when the upstream reported none. A negative or impossible counter makes the whole usage an estimate. */
export function usageOf(value: Frozen<Json> | undefined): Usage | null {
  if (!isObject(value)) return null
  const counts = Object.fromEntries(COUNTERS.map((name) => [name, count(value[name])]))
  if (COUNTERS.every((name) => value[name] === undefined || value[name] === null)) return null
  const estimated = Object.values(counts).some((number) => number === null)
  const read = (name: (typeof COUNTERS)[number]): number => counts[name] ?? 0
  const reasoning = read('thoughtsTokenCount')
  const toolUse = read('toolUsePromptTokenCount')
  const inputTotal = read('promptTokenCount') + toolUse
  const candidates = read('candidatesTokenCount')
  const total = read('totalTokenCount')
  // Some backends count the thoughts inside the candidates; the total shows it.
  const inside = reasoning > 0 && candidates >= reasoning && total === inputTotal + candidates
  const outputTotal = inside ? candidates : candidates + reasoning
  const inputAudio = modality(value.promptTokensDetails, 'AUDIO')
  const inputImage = modality(value.promptTokensDetails, 'IMAGE')
  const outputAudio = modality(value.candidatesTokensDetails, 'AUDIO')
  return {
    inputTotal,
    cacheRead: Math.min(read('cachedContentTokenCount'), inputTotal),
    cacheWrite: 0,
    ...(inputAudio > 0 ? { inputAudio } : {}),
    ...(inputImage > 0 ? { inputImage } : {}),
    ...(toolUse > 0 ? { toolUsePrompt: toolUse } : {}),
    outputTotal,
    ...(reasoning > 0 ? { reasoning } : {}),
    ...(outputAudio > 0 ? { outputAudio } : {}),
    total: total > 0 ? total : inputTotal + outputTotal,
    estimated,
    raw: value as Json,
  }
}

/** Returns zeros for an answer without usage. An estimate replaces them. */
export function noUsage(): Usage {
  return { inputTotal: 0, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: true, raw: null }
}

export function usageMetadata(usage: Frozen<Partial<Usage>>): JsonObject {
  const { inputTotal = 0, outputTotal = 0, reasoning = 0, toolUsePrompt = 0, cacheRead = 0, raw } = usage
  // Adds the vendor's other members when it speaks this dialect and no counts were added.
  const own = usage.estimated !== true && isObject(raw) && raw.totalTokenCount === usage.total ? raw : undefined
  return {
    ...own,
    promptTokenCount: Math.max(0, inputTotal - toolUsePrompt),
    candidatesTokenCount: Math.max(0, outputTotal - reasoning),
    totalTokenCount: usage.total ?? inputTotal + outputTotal,
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    ...(toolUsePrompt > 0 ? { toolUsePromptTokenCount: toolUsePrompt } : {}),
  }
}

/** Returns zero when absent, null when the value is not a count. */
function count(value: Frozen<Json> | undefined): number | null {
  if (value === undefined || value === null) return 0
  return tokenCount(value) ?? null
}

function modality(details: Frozen<Json> | undefined, name: string): number {
  let sum = 0
  for (const entry of listField(details as Json | undefined)) {
    if (isObject(entry) && entry.modality === name) sum += tokenCount(entry.tokenCount) ?? 0
  }
  return sum
}

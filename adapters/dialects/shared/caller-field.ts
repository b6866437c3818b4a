// Returns the caller's own name for a field: the param of a refusal is a member of the caller's body.
import type { Dialect } from '../../../core/types/request/canonical.ts'

const NAMES = {
  n: { generate_content: 'generationConfig.candidateCount' },
  max_tokens: { responses: 'max_output_tokens', generate_content: 'generationConfig.maxOutputTokens' },
  modalities: { generate_content: 'generationConfig.responseModalities' },
  tool_choice: { generate_content: 'toolConfig.functionCallingConfig' },
} as const satisfies Record<string, Partial<Record<Dialect, string>>>

export function callerField(name: keyof typeof NAMES, caller: Dialect): string {
  const names: Partial<Record<Dialect, string>> = NAMES[name]
  return names[caller] ?? name
}

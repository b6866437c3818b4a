// Checks the parts of a request or an answer that a filter must not change: model and provider, the vendor's headers, and usage.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import { FilterFailure } from './failure.ts'

const FIXED = ['model', 'stream', 'source', 'headers'] as const

/** @throws FilterFailure `bad_output`. */
export function acceptRequest(before: Frozen<CanonicalRequest>, after: CanonicalRequest): void {
  for (const name of FIXED)
    if (comparableJson(before[name]) !== comparableJson(after[name]))
      throw new FilterFailure('bad_output', `It changed \`request.${name}\`, which no filter may.`)
}

/** @throws FilterFailure `bad_output`. */
export function acceptResponse(before: Frozen<CanonicalResponse>, after: CanonicalResponse): void {
  if (comparableJson(before.usage) !== comparableJson(after.usage))
    throw new FilterFailure('bad_output', 'It changed `response.usage`, which no filter may.')
}

// Refusals in answers of Google's API: the status is 200, and there is no candidate.
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'

/** Returns why Google refused the prompt; an empty text: it did not. */
export function blockReason({ promptFeedback }: JsonObject): string {
  return isObject(promptFeedback) ? loose(promptFeedback.blockReason) : ''
}
